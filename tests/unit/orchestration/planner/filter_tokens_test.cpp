// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "orchestration/planner/filter.hpp"

namespace millrace {
namespace {

/// "kind:text ..." with w, n, a, r, s for the kinds.
std::string tokens_of(const std::string& text) {
  FilterProblem problem;
  const auto tokens = filter_tokens(text, problem);
  if (!tokens) return "! " + problem.found;
  std::string out;
  for (const FilterToken& token : *tokens) {
    EXPECT_EQ(text.substr(token.at, token.text.size()), token.text);
    out += std::string(out.empty() ? "" : " ") + "wnars"[static_cast<int>(token.kind)] + ":" +
           token.text;
  }
  return out;
}

std::string warnings_of(const std::string& text) {
  FilterProblem problem;
  const auto tokens = filter_tokens(text, problem);
  std::string out;
  for (const FilterWarning& warning : warn_of_parts(tokens.value())) {
    out += std::to_string(warning.at) + " " + warning.text + ";";
  }
  return out;
}

TEST(FilterTokens, KnowNumbersAddressesAndWords) {
  EXPECT_EQ(tokens_of("host 10.0.0.1"), "w:host a:10.0.0.1");
  EXPECT_EQ(tokens_of("net 10/8 and 0x1f"), "w:net a:10/8 w:and n:0x1f");
  EXPECT_EQ(tokens_of("ip6 net ::1/128"), "w:ip6 w:net a:::1/128");
  EXPECT_EQ(tokens_of("ether host 02:00:00:00:00:01"), "w:ether w:host a:02:00:00:00:00:01");
  EXPECT_EQ(tokens_of("portrange 10-20"), "w:portrange r:10-20");
  EXPECT_EQ(tokens_of("host 1.2.3.4.5"), "w:host w:1.2.3.4.5");
  EXPECT_EQ(tokens_of("10/x"), "w:10/x");
  EXPECT_EQ(tokens_of("1-x"), "w:1-x");
  EXPECT_EQ(tokens_of("0xg"), "w:0xg");
}

TEST(FilterTokens, KnowSignsAndBrackets) {
  EXPECT_EQ(tokens_of("ip[6:2]&0x1fff!=0"), "w:ip s:[ n:6 s:: n:2 s:] s:& n:0x1fff s:! s:= n:0");
  EXPECT_EQ(tokens_of("tcp[tcpflags-1]"), "w:tcp s:[ w:tcpflags s:- n:1 s:]");
  EXPECT_EQ(tokens_of("tcp-syn|tcp-fin"), "w:tcp-syn s:| w:tcp-fin");
  EXPECT_EQ(tokens_of("len-4>9"), "w:len s:- n:4 s:> n:9");
  EXPECT_EQ(tokens_of("udp;"), "! ';' in a filter");
  EXPECT_EQ(tokens_of("\x01"), "! '?' in a filter");
  EXPECT_EQ(tokens_of(""), "");
}

TEST(FilterParts, ThatDifferWithinAFlowAreNamed) {
  EXPECT_EQ(warnings_of("udp and less 100"), "8 it looks at the length of packets;");
  EXPECT_EQ(warnings_of("ip[8] < 5 or ip[1] & 3 != 0"),
            "0 it looks at the TTL;13 it looks at the type of service;");
  EXPECT_EQ(warnings_of("ip[6:2] & 0x1fff != 0"), "0 it looks at fragmentation;");
  EXPECT_EQ(warnings_of("tcp[tcpflags] & tcp-syn != 0"), "0 it looks at the TCP flags;");
  EXPECT_EQ(warnings_of("icmp[0] = 8"), "0 it looks at the type of an ICMP message;");
  EXPECT_EQ(warnings_of("udp[8] = 1"), "0 it looks at bytes, which differ from packet to packet;");
  EXPECT_EQ(warnings_of("tcp[(tcp[12] >> 2)] = 1"),
            "0 it looks at bytes, which differ from packet to packet;5 it looks at the header "
            "length;");
}

TEST(FilterParts, ThatAreTheSameInAFlowAreNot) {
  EXPECT_EQ(warnings_of("ip[9] = 17 and udp[0:2] = 53 and ether[12:2] = 0x800"), "");
  EXPECT_EQ(warnings_of("udp port 53 or host 10.0.0.1"), "");
}

}  // namespace
}  // namespace millrace
