// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

/// Numbers from 0 to `max` that a test lets pass, by trying them all.
std::vector<std::uint32_t> passing(std::string_view text, std::uint32_t max) {
  const NumberTest test = number_test_of(text, max);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number <= max; ++number) {
    if (test.passes(number)) numbers.push_back(number);
  }
  return numbers;
}

TEST(RuleValues, RangesAreThoseOfTheManuals) {
  EXPECT_THAT(passing("5", 9), ElementsAre(5));
  EXPECT_THAT(passing("=5", 9), ElementsAre(5));
  EXPECT_THAT(passing("\"5\"", 9), ElementsAre(5));
  EXPECT_THAT(passing("!5", 6), ElementsAre(0, 1, 2, 3, 4, 6));
  EXPECT_THAT(passing("!=5", 6), ElementsAre(0, 1, 2, 3, 4, 6));
  EXPECT_THAT(passing("<2", 9), ElementsAre(0, 1));
  EXPECT_THAT(passing("<=2", 9), ElementsAre(0, 1, 2));
  EXPECT_THAT(passing(">7", 9), ElementsAre(8, 9));
  EXPECT_THAT(passing(">= 8", 9), ElementsAre(8, 9));
  EXPECT_THAT(passing("2<>5", 9), ElementsAre(3, 4));  // Suricata and Snort 3: without the ends
  EXPECT_THAT(passing("2-5", 9), ElementsAre(3, 4));
  EXPECT_THAT(passing("2<=>5", 9), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(passing("!2<>5", 6), ElementsAre(0, 1, 2, 5, 6));
  EXPECT_THAT(passing("0x3", 9), ElementsAre(3));
}

TEST(RuleValues, RangesWithoutNumbersAreRefused) {
  for (const char* text : {"", "a", "10", "-1", "<0", ">9", "5<>6", "5<>5", "7<>2", "5<=>4", "1<>",
                           "<>1", "5 6", "<10", "1<>10", "!", "0x", "5.0"}) {
    EXPECT_THROW(number_test_of(text, 9), RuleRefused) << text;
  }
}

TEST(RuleValues, NumbersHaveLimits) {
  EXPECT_EQ(number_of("-12", -12, 0), -12);
  EXPECT_EQ(number_of("+0x1F", 0, 31), 31);
  EXPECT_EQ(number_of("9223372036854775807", 0, INT64_MAX), INT64_MAX);
  for (const char* text : {"", "-", "1a", "0x", "9223372036854775808", "3", "-2", "1 2"}) {
    EXPECT_THROW(number_of(text, -1, 2), RuleRefused) << text;
  }
}

TEST(RuleValues, PatternsHaveHexAndEscapes) {
  EXPECT_EQ(pattern_bytes("abc"), "abc");
  EXPECT_EQ(pattern_bytes("|61 6263|d|0a|"), "abcd\n");
  EXPECT_EQ(pattern_bytes(R"(a\;b\:c\"d\\e)"), "a;b:c\"d\\e");
  EXPECT_EQ(pattern_bytes("|00|"), std::string(1, '\0'));
  EXPECT_EQ(pattern_bytes("||a"), "a");
  for (const char* text : {"|6", "|6|", "|61", "|6g|", "|6 1 2|", R"(\n)", R"(a\)", R"(\|)"}) {
    EXPECT_THROW(pattern_bytes(text), RuleRefused) << text;
  }
}

TEST(RuleValues, HexOfRandomBytesIsReadBack) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes, text = "|";
    for (unsigned at = 0; at < random() % 20; ++at) {
      const auto byte = static_cast<unsigned char>(random());
      char hex[3];
      std::snprintf(hex, sizeof hex, random() % 2 == 0 ? "%02x" : "%02X", byte);
      bytes.push_back(static_cast<char>(byte));
      text += hex;
      if (random() % 3 == 0) text += " ";
    }
    EXPECT_EQ(pattern_bytes(text + "|"), bytes) << text;
  }
}

TEST(RuleValues, QuotedValuesEndAtAQuoteWithoutBackslash) {
  const QuotedValue value = quoted_value(R"(! "a\"b" , nocase)");
  EXPECT_TRUE(value.negated);
  EXPECT_EQ(value.text, R"(a\"b)");
  EXPECT_EQ(value.rest, ", nocase");
  EXPECT_THROW(quoted_value("abc"), RuleRefused);
  EXPECT_THROW(quoted_value(R"("abc)"), RuleRefused);
  EXPECT_THROW(quoted_value(R"("abc\")"), RuleRefused);
}

TEST(RuleValues, ListsAndNamesAreSplitWithoutBlanks) {
  EXPECT_THAT(split_list(" a , b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split_list("", ','), ElementsAre(""));
  EXPECT_EQ(split_named(" count  5 ").name, "count");
  EXPECT_EQ(split_named(" count  5 ").value, "5");
  EXPECT_EQ(split_named("align").value, "");
  EXPECT_EQ(unquoted("\"a\""), "a");
  EXPECT_EQ(unquoted("\""), "\"");
}

}  // namespace
}  // namespace millrace
