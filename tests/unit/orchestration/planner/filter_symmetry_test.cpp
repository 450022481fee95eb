// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/filter.hpp"

namespace millrace {
namespace {

std::string one_way(const std::string& text) {
  FilterProblem problem;
  const auto filter = compile_filter(text, problem);
  EXPECT_TRUE(filter) << text << ": " << problem.found;
  return one_way_flow(filter->program).value_or("");
}

TEST(FilterSymmetry, FindsAFlowOfWhichOneDirectionIsTaken) {
  EXPECT_EQ(one_way("src host 10.0.0.1"), "UDP from 10.0.0.1:40001 to 192.0.2.1:40001");
  EXPECT_EQ(one_way("tcp dst port 80"), "TCP from 192.0.2.2:40001 to 192.0.2.1:80");
  for (const char* text :
       {"src net 10.0.0.0/8 and dst net 192.168.0.0/16", "tcp dst portrange 1000-2000",
        "port 80 and not src host 1.2.3.4", "ip6 src host 2001:db8::5",
        "ip6 dst net 2001:db8:1::/48", "ether src 02:00:00:00:00:07", "ip[12:4] = 0x0a000001",
        "vlan 7 and src host 1.2.3.4", "src port 1 and dst port 2",
        "src host 1.1.1.1 and dst host 2.2.2.2 and src port 3 and dst port 4",
        "src host 10.0.0.1 and not dst host 10.0.0.1", "sctp src port 7"}) {
    EXPECT_NE(one_way(text), "") << text;
  }
}

TEST(FilterSymmetry, TakesFiltersThatLookAtBothEndsAlike) {
  for (const char* text :
       {"udp port 5060", "host 10.0.0.1", "src host 10.0.0.1 or dst host 10.0.0.1",
        "src net 10.0.0.0/8 and dst net 10.0.0.0/8", "ip6 host 2001:db8::5",
        "(src port 1 and dst port 2) or (src port 2 and dst port 1)", "ip6 net 2001:db8:1::/48",
        "ether host 02:00:00:00:00:07", "vlan and udp port 53", "icmp", "arp", "multicast",
        "ether broadcast", "portrange 1000-2000", "ip", "not tcp"}) {
    EXPECT_EQ(one_way(text), "") << text;
  }
}

}  // namespace
}  // namespace millrace
