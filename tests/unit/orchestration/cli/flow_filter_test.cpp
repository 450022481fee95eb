// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/flow_filter.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/base/error.hpp"
#include "tests/unit/orchestration/cli/flow_lines.hpp"

namespace millrace {
namespace {

/// Which of the four are taken: a letter each.
std::string taken(const std::string& text) {
  const FlowFilter filter(text);
  std::string letters;
  if (filter.takes(test::tcp_line())) letters += 't';
  if (filter.takes(test::translated_line())) letters += 'n';
  if (filter.takes(test::icmp_line())) letters += 'i';
  if (filter.takes(test::ipv6_line())) letters += '6';
  return letters;
}

TEST(FlowFilter, EachPairHasToHold) {
  EXPECT_EQ(FlowFilter().takes(test::tcp_line()), true);
  const struct {
    const char* text;
    const char* taken;
  } cases[] = {{"", "tni6"},
               {"proto=tcp", "tn"},
               {"proto=udp,icmp", "i6"},
               {"proto=1", "i"},
               {"proto!=tcp", "i6"},
               {"proto!=tcp,udp", "i"},
               {"src=10.1.0.5", "tn"},
               {"src=10.1.0.0/30", ""},
               {"src=10.1.0.4/30", "tni"},
               {"src=0.0.0.0/0", "tni"},
               {"src=::/0", "6"},
               {"src=2001:db8::/32", "6"},
               {"dst=2001:db8:0:8000::/49", ""},
               {"dst=2001:db8:1::/48", "6"},
               {"dst=192.0.2.9", "tni"},
               {"addr=203.0.113.1", "n"},
               {"addr=10.1.0.6,2001:db8::5", "i6"},
               {"sport=40000", "tn"},
               {"sport=1024-65535", "tn6"},
               {"dport=53,443", "tn6"},
               {"port=1024", "n"},
               {"port=443", "tn"},
               {"state=new", "i"},
               {"state=established,new", "tni6"},
               {"translated=yes", "n"},
               {"translated=no", "ti6"},
               {"lane=3 path=main function=flow", "tni6"},
               {"lane=2", ""},
               {"path!=main", ""},
               {"  proto=tcp   translated=no ", "t"},
               {"proto=tcp dst=192.0.2.0/24 dport=443 state=established", "tn"}};
  for (const auto& one : cases) EXPECT_EQ(taken(one.text), one.taken) << one.text;
}

std::string refusal(const std::string& text) {
  try {
    const FlowFilter filter(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FlowFilter, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("tcp"),
            "--filter: found 'tcp'; allowed: KEY=VALUE or KEY!=VALUE, like dst=10.0.0.0/8 "
            "proto=tcp,udp");
  EXPECT_EQ(refusal("=x").substr(0, 20), "--filter: found '=x'");
  EXPECT_NE(refusal("srk=10.0.0.1").find("did you mean 'src'?"), std::string::npos);
  EXPECT_NE(refusal("state=estab").find("no state 'estab'"), std::string::npos);
  EXPECT_EQ(refusal("translated=1"), "--filter: found '1' as 'translated'; allowed: yes, no");
  for (const char* const text :
       {"src=", "src=x", "src=10.0.0.0/33", "src=::/129", "src=10.0.0.1/"}) {
    EXPECT_NE(refusal(text).find("an address or a prefix"), std::string::npos) << text;
  }
  for (const char* const text :
       {"port=", "port=x", "port=65536", "port=2-1", "port=1-", "port=-1"}) {
    EXPECT_NE(refusal(text).find("a number from 0 to 65535"), std::string::npos) << text;
  }
  for (const char* const text : {"proto=ip", "proto=256", "proto=tcp,"}) {
    EXPECT_NE(refusal(text).find("allowed: tcp, udp"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace millrace
