// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/regex_literal.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <gtest/gtest.h>
#include <pcre2.h>

#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace millrace {
namespace {

std::string literal_in(const std::string& expression, std::uint32_t flags = 0) {
  const auto literal = required_literal({.expression = expression, .flags = flags});
  return literal ? literal->bytes : "(none)";
}

TEST(RegexLiteral, IsTheLongestThatEachMatchHas) {
  EXPECT_EQ(literal_in("abc"), "abc");
  EXPECT_EQ(literal_in("^Content-Length\\s*\\x3a\\s*-\\d+"), "Content-Length");
  EXPECT_EQ(literal_in("ab.cde[xyz]fg"), "cde");
  EXPECT_EQ(literal_in("\\x2f\\x2Fa\\.b\\/\\t"), "//a.b/\t");
  EXPECT_EQ(literal_in("a[^]bcd]efg[[:alpha:]]h"), "efg");
  EXPECT_EQ(literal_in("x(abc(?:def)+)?y(?:ghi)"), "ghi");
  EXPECT_EQ(literal_in("x(abcd|e)yz"), "yz");
}

TEST(RegexLiteral, BytesThatMayBeAbsentAreNoneOfIt) {
  EXPECT_EQ(literal_in("abcd?e"), "abc");
  EXPECT_EQ(literal_in("abcd*?ef"), "abc");
  EXPECT_EQ(literal_in("abcd{0,3}ef"), "abc");
  EXPECT_EQ(literal_in("abcd{1,}efgh"), "abcd");
  EXPECT_EQ(literal_in("ab+cd"), "ab");
  EXPECT_EQ(literal_in("(?=abcdef)a.c"), "(none)");
  EXPECT_EQ(literal_in("(?<=abcdef)xy"), "xy");
  EXPECT_EQ(literal_in("abc|def"), "(none)");
  EXPECT_EQ(literal_in("a.b.c"), "(none)");
}

TEST(RegexLiteral, OfEitherCaseItIsInLowerCase) {
  const auto literal = required_literal({.expression = "ABc", .flags = PCRE2_CASELESS});
  ASSERT_TRUE(literal);
  EXPECT_EQ(literal->bytes, "abc");
  EXPECT_TRUE(literal->nocase);
  EXPECT_FALSE(required_literal({.expression = "abc"})->nocase);
}

TEST(RegexLiteral, NothingIsSaidOfWhatIsNotUnderstood) {
  for (const char* expression :
       {"(?i)abc", "(a)bc\\1", "abc\\Kd", "(?<name>abc)", "\\Qabc\\E", "abc(?#def)", "abc\\p{L}",
        "ab{,3}cd", "ab{x}", "(*ANY)abc", "(?>abc)", "[\\c]abc]def", "(?1)abc(d)", "\\o{101}bc"}) {
    EXPECT_EQ(literal_in(expression), "(none)") << expression;
  }
  EXPECT_EQ(literal_in("a b c d", PCRE2_EXTENDED), "(none)");
  EXPECT_FALSE(required_literal({.expression = "abc", .negated = true}));
}

TEST(RegexLiteral, GroupsInGroupsAreBounded) {
  const std::string open(1000, '('), close(1000, ')');
  EXPECT_EQ(literal_in(open + "abc" + close), "(none)");
}

/// Expressions of a few pieces, and texts that are like them.
class RandomExpressions {
 public:
  std::string expression(int depth) {
    std::string made;
    for (std::size_t i = 1 + random_() % 5; i > 0; --i) {
      made += atom(depth);
      if (random_() % 3 == 0) made += kTimes[random_() % std::size(kTimes)];
    }
    return random_() % 8 == 0 ? made + "|" + atom(depth) : made;
  }
  std::string text() {
    std::string made(random_() % 12, ' ');
    for (char& byte : made) byte = "abcABC-"[random_() % 7];
    return made;
  }
  std::uint32_t flags() { return random_() % 2 == 0 ? 0 : PCRE2_CASELESS; }

 private:
  std::string atom(int depth) {
    constexpr std::string_view kAtoms[] = {"a",    "b",     "c",   "ab",  "bc", "abc", ".", "[ab]",
                                           "[^a]", "\\x61", "\\w", "\\b", "^",  "$",   "-"};
    if (depth == 0 || random_() % 5 != 0) return std::string(kAtoms[random_() % std::size(kAtoms)]);
    constexpr std::string_view kBegins[] = {"(", "(?:", "(?=", "(?!"};
    return std::string(kBegins[random_() % std::size(kBegins)]) + expression(depth - 1) + ")";
  }
  static constexpr std::string_view kTimes[] = {"?", "*", "+", "{2}", "{0,1}", "{1,2}", "+?", "*+"};
  std::mt19937 random_{11};
};

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

/// PCRE2 is the oracle: what it matches has the literal.
TEST(RegexLiteral, EachMatchHasIt) {
  RandomExpressions random;
  std::size_t matches = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string expression = random.expression(2);
    const std::uint32_t flags = random.flags();
    const auto literal = required_literal({.expression = expression, .flags = flags});
    if (!literal) continue;
    int error = 0;
    PCRE2_SIZE at = 0;
    const std::unique_ptr<pcre2_code, FreeCode> code(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), flags,
                      &error, &at, nullptr));
    if (code == nullptr) continue;
    const std::unique_ptr<pcre2_match_data, FreeData> data(
        pcre2_match_data_create_from_pattern(code.get(), nullptr));
    for (int i = 0; i < 20; ++i) {
      const std::string text = random.text();
      if (pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                      data.get(), nullptr) < 0) {
        continue;
      }
      const PCRE2_SIZE* places = pcre2_get_ovector_pointer(data.get());
      std::string match = text.substr(places[0], places[1] - places[0]);
      if (literal->nocase) {
        for (char& byte : match) byte = static_cast<char>(std::tolower(byte));
      }
      ASSERT_NE(match.find(literal->bytes), std::string::npos) << expression << " in " << text;
      ++matches;
    }
  }
  EXPECT_GT(matches, 1000u);
}

}  // namespace
}  // namespace millrace
