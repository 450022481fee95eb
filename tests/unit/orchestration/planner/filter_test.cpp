// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/filter.hpp"

#include <gtest/gtest.h>

#include "shared/base/packet_filter.hpp"

namespace millrace {
namespace {

/// "AT: FOUND -> NEAREST" of a filter that is refused.
std::string refusal(const std::string& text) {
  FilterProblem problem;
  if (compile_filter(text, problem)) return "";
  return std::to_string(problem.at) + ": " + problem.found +
         (problem.nearest.empty() ? "" : " -> " + problem.nearest);
}

TEST(Filter, CompilesToASoundProgram) {
  FilterProblem problem;
  for (const char* text :
       {"udp port 53", "ip6 and not tcp", "vlan 5 and host 10.0.0.1", "tcp port ssh or port domain",
        "ip proto \\udp", "net ::1/128", "len - 4 > 60", "ether host 02:00:00:00:00:01"}) {
    const auto filter = compile_filter(text, problem);
    ASSERT_TRUE(filter) << text << ": " << problem.found;
    EXPECT_GE(filter->program.size(), 2u) << text;
    EXPECT_TRUE(is_sound_filter(filter->program)) << text;
  }
}

TEST(Filter, SaysWhichWordItDoesNotKnow) {
  EXPECT_EQ(refusal("udp prot 53"), "4: 'prot' in a filter -> port");
  EXPECT_EQ(refusal("upd port 53"), "0: 'upd' in a filter -> udp");
  EXPECT_EQ(refusal("udp # port"), "4: '#' in a filter");
}

TEST(Filter, KnowsTheNamesThatLibpcapHas) {
  for (const char* text :
       {"icmp[icmptype] = icmp-echo", "icmp6[icmp6type] = icmp6-echo",
        "icmp6[icmp6type] == icmp6-neighborsolicit or icmp6[0] = icmp6-routeradvert", "llc", "isis",
        "iso proto \\esis", "csnp"}) {
    EXPECT_EQ(refusal(text), "") << text;
  }
}

TEST(Filter, LooksUpNoNames) {
  EXPECT_EQ(refusal("host example.org"), "5: 'example.org' in a filter");
  EXPECT_EQ(refusal("net loopback"), "4: 'loopback' in a filter");
  EXPECT_EQ(refusal("host 1.2.3.4.5"), "5: '1.2.3.4.5' in a filter");
  EXPECT_EQ(refusal("host 10-20"), "5: '10-20' in a filter");
  EXPECT_EQ(refusal("gateway 10.0.0.1"), "0: 'gateway' in a filter");
}

TEST(Filter, FindsSyntaxErrors) {
  EXPECT_EQ(refusal("udp and and tcp"), "8: 'and' where a filter cannot have it");
  EXPECT_EQ(refusal("udp port 53 )"), "12: ')' where a filter cannot have it");
  EXPECT_EQ(refusal("(udp port 53"), "12: the end of a filter too early");
  EXPECT_EQ(refusal("udp port"), "8: the end of a filter too early");
  EXPECT_EQ(refusal("10.0.0.1"), "0: '10.0.0.1' where a filter cannot have it");
}

TEST(Filter, TellsWhatLibpcapSaysAtItsPlace) {
  EXPECT_EQ(refusal("udp port fiftythree"),
            "9: a filter that libpcap does not take (unknown port 'fiftythree')");
  EXPECT_EQ(refusal("udp and port 99999"),
            "13: a filter that libpcap does not take (illegal port number 99999 > 65535)");
}

TEST(Filter, IsLimited) {
  EXPECT_EQ(refusal(std::string(1025, ' ')), "0: a filter of 1025 bytes");
  std::string many = "tcp";
  while (many.size() < 1000) many += " or (ip6[40:2] % 3 = 1)";
  const std::string said = refusal(many);
  EXPECT_TRUE(said.empty() || said.find("instructions") != said.npos) << said;
}

TEST(Filter, WarnsOfWhatSplitsFlows) {
  FilterProblem problem;
  const auto filter = compile_filter("tcp and less 2000 and dst port 80", problem);
  ASSERT_TRUE(filter);
  ASSERT_EQ(filter->warnings.size(), 2u);
  EXPECT_EQ(filter->warnings[0].text, "it looks at the length of packets");
  EXPECT_EQ(filter->warnings[1].text.find("it takes TCP from "), 0u);
  EXPECT_TRUE(compile_filter("udp port 5060 or vlan", problem)->warnings.empty());
}

}  // namespace
}  // namespace millrace
