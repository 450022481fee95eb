// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/rules/rule_match.hpp"

/// Tests and texts of few different bytes, so that they often match.

namespace millrace::match_oracle {

/// What makes_tests() may use.
struct Kinds {
  bool absence = true;    ///< negated tests, and those about the end
  bool numbers = true;    ///< byte_test and its like
  bool variables = true;  ///< only with numbers
  bool regexes = true;
};

class RandomTests {
 public:
  explicit RandomTests(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool one_in(std::size_t times) { return below(times) == 0; }

  std::string text(std::size_t size_max) {
    std::string text(below(size_max + 1), '\0');
    for (char& byte : text) byte = kBytes[below(kBytes.size())];
    return text;
  }

  std::vector<Match> tests(const Kinds& kinds) {
    std::vector<Match> tests;
    const std::size_t count = 1 + below(4);
    has_variable_ = false;
    while (tests.size() < count) {
      if (auto test = other(kinds)) {
        tests.push_back(*test);
      } else {
        tests.emplace_back(content(kinds));
      }
    }
    return tests;
  }

 private:
  static constexpr std::string_view kBytes{
      "\x00\x01\x02"
      "aA",
      5};

  RuleNumber number(std::int64_t low, std::int64_t high, const Kinds& kinds) {
    if (kinds.variables && has_variable_ && one_in(3)) return {.variable = 0};
    return {.value = low + static_cast<std::int64_t>(below(high - low + 1))};
  }

  ContentMatch content(const Kinds& kinds) {
    ContentMatch content{.bytes = std::string(1 + below(2), 'a'), .nocase = one_in(3)};
    for (char& byte : content.bytes) byte = kBytes[below(kBytes.size() - (content.nocase ? 1 : 0))];
    if (kinds.absence) {
      content.negated = one_in(5);
      content.ends_with = one_in(8);
      content.starts_with = one_in(12);
    }
    if (content.starts_with) return content;
    const auto length = static_cast<std::int64_t>(content.bytes.size());
    if (one_in(2)) {
      if (!one_in(3)) content.distance = number(one_in(3) ? -2 : 0, 2, kinds);
      if (one_in(2)) content.within = number(length, length + 3, kinds);
    } else {
      if (one_in(3)) content.offset = number(0, 4, kinds);
      if (one_in(3)) content.depth = number(length, length + 4, kinds);
    }
    return content;
  }

  /// None: a content is to be made.
  std::optional<Match> other(const Kinds& kinds) {
    const bool relative = one_in(2);
    const std::size_t kind = below(14);
    if (kind == 0 && kinds.regexes) {
      constexpr std::array<const char*, 8> kExpressions = {
          "a", "a[^A]?A", "a+", "^a", "A[aA]*", "aA", "[aA]aA", "aA[aA]+"};
      return PcreMatch{.expression = kExpressions[below(kExpressions.size())],
                       .relative = relative,
                       .negated = kinds.absence && one_in(4)};
    }
    if (kind == 1 && kinds.absence) {
      return IsDataAt{
          .at = number(relative ? 1 : 0, 4, kinds), .relative = relative, .negated = one_in(2)};
    }
    if (kind == 2 && kinds.absence && one_in(2)) {
      const auto low = static_cast<std::uint32_t>(below(8));
      return BufferSize{.low = low,
                        .high = one_in(2) ? UINT32_MAX : low + static_cast<std::uint32_t>(below(6)),
                        .negated = one_in(4)};
    }
    return kinds.numbers && kind > 2 && kind < 7 ? reader(kind, relative, kinds) : std::nullopt;
  }

  std::optional<Match> reader(std::size_t kind, bool relative, const Kinds& kinds) {
    const RuleNumber offset = number(relative ? -1 : 0, 3, kinds);
    if (kind == 3) {
      return ByteTest{.compare = Compare::kGreater,
                      .negated = one_in(3),
                      .value = number(0, 3, kinds),
                      .offset = offset,
                      .relative = relative};
    }
    if (kind == 4) {
      return ByteJump{.offset = offset,
                      .relative = relative,
                      .from_beginning = one_in(3),
                      .multiplier = 1 + static_cast<std::uint32_t>(below(2)),
                      .post_offset = static_cast<std::int32_t>(below(3)) - 1};
    }
    if (!kinds.variables) return std::nullopt;
    has_variable_ = true;
    return ByteExtract{.offset = offset,
                       .relative = relative,
                       .variable = 0,
                       .multiplier = 1 + static_cast<std::uint32_t>(below(2))};
  }

  std::mt19937 random_;
  bool has_variable_ = false;
};

}  // namespace millrace::match_oracle
