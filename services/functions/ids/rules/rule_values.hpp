// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/rules/rule_draft.hpp"

/// Values of options: numbers, ranges, lists, quoted texts.

namespace millrace {

/// Throws RuleRefused; apply_option() adds the keyword.
[[noreturn]] void refuse_rule(std::string reason);

/// Without one pair of double quotes around.
std::string_view unquoted(std::string_view value) noexcept;
/// Parts between `separator`s, without blanks around each. One at least.
std::vector<std::string_view> split_list(std::string_view value, char separator);
/// "multiplier 4" -> "multiplier", "4"; the second is empty where there is one word.
struct NamedValue {
  std::string_view name, value;
};
NamedValue split_named(std::string_view text) noexcept;

/// A decimal number, or one in hex behind 0x, with a sign or without.
std::int64_t number_of(std::string_view text, std::int64_t low, std::int64_t high);
/// Likewise, or the name of a variable that byte_extract or byte_math has set before.
RuleNumber number_or_variable(std::string_view text, std::int64_t low, std::int64_t high,
                              const RuleDraft& draft);

/// "5", "!5", "<5", ">=5", "2<>9" and "2-9" (both without their ends), "2<=>9" (with them). Of
/// numbers from 0 to `max`; what no number can pass is refused.
NumberTest number_test_of(std::string_view text, std::uint32_t max);

/// What `|61 62|` and escapes stand for. `text`: between quotes.
std::string pattern_bytes(std::string_view text);

/// What stands between double quotes, and behind them: `!"a",nocase`. Refused: no quotes.
struct QuotedValue {
  bool negated = false;
  std::string_view text, rest;
};
QuotedValue quoted_value(std::string_view value);

}  // namespace millrace
