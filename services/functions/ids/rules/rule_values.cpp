// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_values.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "services/functions/ids/rules/rule_words.hpp"
#include "shared/base/hex_digit.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

constexpr int kDecimal = 10, kHex = 16;

std::optional<std::int64_t> parse_number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, is_hex ? kHex : kDecimal);
  if (error != std::errc() || rest != end) return std::nullopt;
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  const auto value = static_cast<std::int64_t>(number);
  return is_negative ? -value : value;
}

bool is_letter(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/// Takes "61 62|" off `rest`, which begins behind the first bar.
void take_hex(std::string_view& rest, std::string& bytes) {
  unsigned high = 0;
  bool is_half = false;
  for (; !rest.empty() && rest.front() != '|'; rest.remove_prefix(1)) {
    if (rest.front() == ' ') continue;
    const auto digit = hex_digit(rest.front());
    if (!digit) refuse_rule("between bars stand hex digits only");
    if (is_half) bytes.push_back(static_cast<char>(high << 4 | *digit));
    high = *digit;
    is_half = !is_half;
  }
  if (is_half) refuse_rule("half a byte of hex");
  if (rest.empty()) refuse_rule("hex has no closing '|'");
  rest.remove_prefix(1);
}

/// "2<>9": where the sign is, what it is, and whether the ends belong to the range.
struct RangeSign {
  std::string_view sign;
  bool has_ends;
};
constexpr RangeSign kRangeSigns[] = {{"<=>", true}, {"<>", false}, {"-", false}};
struct CompareSign {
  std::string_view sign;
  bool is_less, has_end;
};
constexpr CompareSign kCompareSigns[] = {
    {"<=", true, true}, {">=", false, true}, {"<", true, false}, {">", false, false}};

/// Low and high as they are written; without the ends of the range where they do not belong to it.
NumberTest test_between(std::int64_t low, std::int64_t high, bool has_ends, std::uint32_t max) {
  if (!has_ends) {
    ++low;
    --high;
  }
  if (low > high || high < 0 || low > max) refuse_rule("no number is in that range");
  return {.low = static_cast<std::uint32_t>(std::max<std::int64_t>(low, 0)),
          .high = static_cast<std::uint32_t>(std::min<std::int64_t>(high, max))};
}

std::optional<NumberTest> range_of(std::string_view text, std::uint32_t max) {
  for (const RangeSign& row : kRangeSigns) {
    const std::size_t at = text.find(row.sign);
    if (at == std::string_view::npos || at == 0) continue;
    const std::int64_t low = number_of(without_blanks(text.substr(0, at)), 0, max);
    const std::int64_t high = number_of(without_blanks(text.substr(at + row.sign.size())), 0, max);
    return test_between(low, high, row.has_ends, max);
  }
  return std::nullopt;
}

NumberTest positive_test(std::string_view text, std::uint32_t max) {
  if (const auto range = range_of(text, max)) return *range;
  for (const CompareSign& row : kCompareSigns) {
    if (!text.starts_with(row.sign)) continue;
    const std::int64_t end = number_of(without_blanks(text.substr(row.sign.size())), 0, max);
    const std::int64_t beyond = row.has_end ? 0 : 1;
    return row.is_less ? test_between(0, end - beyond, true, max)
                       : test_between(end + beyond, max, true, max);
  }
  if (text.starts_with('=')) text = without_blanks(text.substr(1));
  const auto number = static_cast<std::uint32_t>(number_of(text, 0, max));
  return {.low = number, .high = number};
}

}  // namespace

void refuse_rule(std::string reason) { throw RuleRefused{"", std::move(reason)}; }

std::string_view unquoted(std::string_view value) noexcept {
  const bool has_quotes = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return has_quotes ? value.substr(1, value.size() - 2) : value;
}

std::vector<std::string_view> split_list(std::string_view value, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = value.find(separator);
    parts.push_back(without_blanks(value.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    value.remove_prefix(end + 1);
  }
}

NamedValue split_named(std::string_view text) noexcept {
  text = without_blanks(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  return {text.substr(0, end), without_blanks(text.substr(end))};
}

std::int64_t number_of(std::string_view text, std::int64_t low, std::int64_t high) {
  const auto number = parse_number(text);
  if (!number) refuse_rule(quoted_word(text) + " is no number");
  if (*number < low || *number > high) {
    refuse_rule(quoted_word(text) + " is not from " + std::to_string(low) + " to " +
                std::to_string(high));
  }
  return *number;
}

RuleNumber number_or_variable(std::string_view text, std::int64_t low, std::int64_t high,
                              const RuleDraft& draft) {
  if (text.empty() || !(is_letter(text.front()) || text.front() == '_')) {
    return {.value = number_of(text, low, high)};
  }
  const auto found = draft.variables.find(text);
  if (found == draft.variables.end()) {
    refuse_rule("no byte_extract or byte_math before it sets " + quoted_word(text));
  }
  return {.variable = found->second};
}

NumberTest number_test_of(std::string_view text, std::uint32_t max) {
  text = without_blanks(unquoted(text));
  const bool negated = text.starts_with('!');
  if (negated) text = without_blanks(text.substr(1));
  NumberTest test = positive_test(text, max);
  test.negated = negated;
  return test;
}

std::string pattern_bytes(std::string_view text) {
  constexpr std::string_view kEscaped = "\\\";:";
  std::string bytes;
  while (!text.empty()) {
    const char next = text.front();
    text.remove_prefix(1);
    if (next == '|') {
      take_hex(text, bytes);
      continue;
    }
    if (next != '\\') {
      bytes.push_back(next);
      continue;
    }
    if (text.empty() || kEscaped.find(text.front()) == std::string_view::npos) {
      refuse_rule(R"(a backslash stands in front of \ " ; : only)");
    }
    bytes.push_back(text.front());
    text.remove_prefix(1);
  }
  return bytes;
}

QuotedValue quoted_value(std::string_view value) {
  QuotedValue found;
  value = without_blanks(value);
  found.negated = value.starts_with('!');
  if (found.negated) value = without_blanks(value.substr(1));
  if (!value.starts_with('"')) refuse_rule("its value stands in no double quotes");
  for (std::size_t at = 1; at < value.size(); ++at) {
    if (value[at] == '\\') {
      ++at;
    } else if (value[at] == '"') {
      found.text = value.substr(1, at - 1);
      found.rest = without_blanks(value.substr(at + 1));
      return found;
    }
  }
  refuse_rule("its value has no closing quote");
}

}  // namespace millrace
