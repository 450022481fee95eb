// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_words.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

/// "name=value|name|..." of a rule's options.
std::string options_of(std::string_view options) {
  std::string result;
  for (const RuleOption& option :
       split_rule("alert tcp any any -> any any (" + std::string(options) + ")").options) {
    result += (result.empty() ? "" : " | ") + option.name;
    if (option.has_value) result += "=" + option.value;
  }
  return result;
}

std::string refusal_of(const std::string& rule) {
  try {
    split_rule(rule);
  } catch (const RuleRefused& refused) {
    return refused.reason;
  }
  return "";
}

TEST(RuleWords, OfAHeadAreSeven) {
  const RuleHead head =
      split_rule(" alert  tcp\t[ 10.0.0.1, !10.0.0.2 ] any <> $HOME_NET [80,81] (sid:1;) ").head;
  EXPECT_TRUE(head.has_addresses);
  EXPECT_EQ(head.action, "alert");
  EXPECT_EQ(head.protocol, "tcp");
  EXPECT_EQ(head.source, "[ 10.0.0.1, !10.0.0.2 ]");
  EXPECT_EQ(head.source_ports, "any");
  EXPECT_EQ(head.direction, "<>");
  EXPECT_EQ(head.destination, "$HOME_NET");
  EXPECT_EQ(head.destination_ports, "[80,81]");
  EXPECT_FALSE(split_rule("alert http (sid:1;)").head.has_addresses);
}

TEST(RuleWords, OfOptionsEndAtSemicolonsThatAreNotOfAValue) {
  EXPECT_EQ(options_of("msg:\"a; b\"; nocase ;sid: 7 ;"), "msg=\"a; b\" | nocase | sid=7");
  EXPECT_EQ(options_of(R"(content:"a\;b\"c\:d\\"; rev:1;)"), R"(content="a\;b\"c\:d\\" | rev=1)");
  EXPECT_EQ(options_of(R"(reference:url,a.example\;b;; sid:1;)"),
            R"(reference=url,a.example\;b | sid=1)");
  EXPECT_EQ(options_of("content:\"a\",nocase,offset 5; rem:\"x:y\"; empty:;"),
            "content=\"a\",nocase,offset 5 | rem=\"x:y\" | empty=");
  EXPECT_EQ(options_of(""), "");
}

TEST(RuleWords, ThatMakeNoRuleAreRefused) {
  EXPECT_EQ(refusal_of("alert tcp any any -> any any"), "it has no '(' in front of options");
  EXPECT_EQ(refusal_of("alert tcp any any -> any any (sid:1;"), "it does not end in ')'");
  EXPECT_EQ(refusal_of("alert tcp any any (sid:1;)").substr(0, 18), "its head has 4 wor");
  EXPECT_EQ(refusal_of("alert tcp any any -> any any (sid:1)"), "no ';' ends the option 'sid:1'");
  EXPECT_EQ(refusal_of("alert http (msg:\"a;)"), "no ';' ends the option 'msg:\"a;'");
  EXPECT_EQ(refusal_of("alert http (:a;)"), "an option has no name");
  EXPECT_EQ(refusal_of("alert http (a:" + std::string(kRuleBytesMax, 'a') + ";)"),
            "it has more than 65536 bytes");
}

TEST(RuleWords, TellSnort3) {
  const auto is_snort3 = [](const std::string& options) {
    return is_of_snort3(split_rule("alert tcp any any -> any any (" + options + ")"));
  };
  EXPECT_TRUE(is_of_snort3(split_rule("alert http (sid:1;)")));
  EXPECT_TRUE(is_snort3("content:\"a\",nocase;"));
  EXPECT_TRUE(is_snort3(R"(content:!"a\"b" , nocase;)"));
  EXPECT_TRUE(is_snort3("http_uri; content:\"a\";"));
  EXPECT_TRUE(is_snort3("service:http; content:\"a\";"));
  EXPECT_FALSE(is_snort3("content:\"a\"; http_uri; nocase;"));
  EXPECT_FALSE(is_snort3(R"(http.uri; content:"a,b"; file_data; content:"\\";)"));
}

}  // namespace
}  // namespace millrace
