// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_numbers.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// byte_test, byte_jump, byte_extract, byte_math.

namespace millrace {
namespace {

constexpr std::int64_t kOffsetMax = std::numeric_limits<std::uint16_t>::max();
constexpr std::int64_t kValueMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMultiplierMax = std::numeric_limits<std::uint16_t>::max();

struct CompareName {
  std::string_view name;
  Compare compare;
};
constexpr CompareName kCompareNames[] = {
    {"<", Compare::kLess},       {">", Compare::kGreater},       {"=", Compare::kEqual},
    {"<=", Compare::kLessEqual}, {">=", Compare::kGreaterEqual}, {"&", Compare::kAnd},
    {"^", Compare::kOr},
};

void read_compare(std::string_view text, ByteTest& test) {
  test.negated = text.starts_with('!');
  if (test.negated) text.remove_prefix(1);
  if (test.negated && text.empty()) text = "=";
  const auto* const found = std::ranges::find(kCompareNames, text, &CompareName::name);
  if (found == std::end(kCompareNames)) refuse_rule(quoted_word(text) + " compares nothing");
  test.compare = found->compare;
}

template <typename Test>
void place_test(RuleDraft& draft, const Test& test) {
  if (test.relative) return add_relative_test(draft, test);
  add_test(draft, test);
}

void add_byte_test(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(option.value, ',');
  constexpr std::size_t kFixed = 4;
  if (parts.size() < kFixed) refuse_rule("it has bytes, operator, value, offset");
  ByteTest test;
  read_compare(parts[1], test);
  test.value = number_or_variable(parts[2], 0, kValueMax, draft);
  test.offset = number_or_variable(parts[3], -kOffsetMax, kOffsetMax, draft);
  NumberOptions options;
  options.may_be_open = true;
  for (std::size_t at = kFixed; at < parts.size(); ++at) {
    if (!take_number_option(parts[at], options)) {
      refuse_rule(quoted_word(parts[at]) + " is not known");
    }
  }
  test.relative = options.relative;
  test.format = format_of(parts[0], options, draft);
  place_test(draft, test);
}

bool take_jump_option(std::string_view text, ByteJump& jump) {
  const NamedValue option = split_named(text);
  if (option.name == "multiplier") {
    jump.multiplier = static_cast<std::uint32_t>(number_of(option.value, 1, kMultiplierMax));
  } else if (option.name == "post_offset") {
    jump.post_offset = static_cast<std::int32_t>(number_of(option.value, -kOffsetMax, kOffsetMax));
  } else if (text == "align") {
    jump.align = true;
  } else if (text == "from_beginning") {
    jump.from_beginning = true;
  } else if (text == "from_end") {
    jump.from_end = true;
  } else {
    return false;
  }
  return true;
}

void add_byte_jump(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(option.value, ',');
  constexpr std::size_t kFixed = 2;
  if (parts.size() < kFixed) refuse_rule("it has bytes, offset");
  ByteJump jump;
  jump.offset = number_or_variable(parts[1], -kOffsetMax, kOffsetMax, draft);
  NumberOptions options;
  options.may_be_open = options.may_be_none = true;
  for (std::size_t at = kFixed; at < parts.size(); ++at) {
    if (!take_jump_option(parts[at], jump) && !take_number_option(parts[at], options)) {
      refuse_rule(quoted_word(parts[at]) + " is not known");
    }
  }
  if (jump.from_beginning && jump.from_end) refuse_rule("from_beginning contradicts from_end");
  jump.relative = options.relative;
  jump.format = format_of(parts[0], options, draft);
  place_test(draft, jump);
}

bool take_extract_option(std::string_view text, ByteExtract& extract) {
  const NamedValue option = split_named(text);
  if (option.name == "multiplier") {
    extract.multiplier = static_cast<std::uint32_t>(number_of(option.value, 1, kMultiplierMax));
    return true;
  }
  if (option.name != "align") return false;
  if (option.value != "2" && option.value != "4") refuse_rule("align is 2 or 4");
  extract.align = option.value == "2" ? 2 : 4;
  return true;
}

void add_byte_extract(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(option.value, ',');
  constexpr std::size_t kFixed = 3;
  if (parts.size() < kFixed) refuse_rule("it has bytes, offset, name");
  ByteExtract extract;
  extract.offset = number_or_variable(parts[1], -kOffsetMax, kOffsetMax, draft);
  NumberOptions options;
  for (std::size_t at = kFixed; at < parts.size(); ++at) {
    if (!take_extract_option(parts[at], extract) && !take_number_option(parts[at], options)) {
      refuse_rule(quoted_word(parts[at]) + " is not known");
    }
  }
  extract.relative = options.relative;
  extract.format = format_of(parts[0], options, draft);
  extract.variable = variable_for(parts[2], draft);
  place_test(draft, extract);
}

struct OperatorName {
  std::string_view name;
  ByteMath::Operator op;
};
constexpr OperatorName kOperatorNames[] = {
    {"+", ByteMath::Operator::kAdd},        {"-", ByteMath::Operator::kSubtract},
    {"*", ByteMath::Operator::kMultiply},   {"/", ByteMath::Operator::kDivide},
    {"<<", ByteMath::Operator::kShiftLeft}, {">>", ByteMath::Operator::kShiftRight},
};

/// What byte_math has been told: each once.
struct MathWords {
  std::string_view bytes, offset, oper, right, result;
};
struct MathWord {
  std::string_view name;
  std::string_view MathWords::*word;
};
constexpr MathWord kMathWords[] = {{"bytes", &MathWords::bytes},
                                   {"offset", &MathWords::offset},
                                   {"oper", &MathWords::oper},
                                   {"rvalue", &MathWords::right},
                                   {"result", &MathWords::result}};

MathWords read_math(std::string_view value, NumberOptions& options) {
  MathWords words;
  for (const std::string_view part : split_list(value, ',')) {
    const NamedValue named = split_named(part);
    const auto* const found = std::ranges::find(kMathWords, named.name, &MathWord::name);
    if (found != std::end(kMathWords)) {
      if (!(words.*(found->word)).empty()) refuse_rule(quoted_word(named.name) + " stands twice");
      words.*(found->word) = named.value;
    } else if (!take_number_option(part, options)) {
      refuse_rule(quoted_word(part) + " is not known");
    }
  }
  for (const MathWord& row : kMathWords) {
    if ((words.*(row.word)).empty()) refuse_rule(quoted_word(row.name) + " is missing");
  }
  return words;
}

void add_byte_math(const RuleOption& option, RuleDraft& draft) {
  NumberOptions options;
  const MathWords words = read_math(option.value, options);
  ByteMath math;
  const auto* const found = std::ranges::find(kOperatorNames, words.oper, &OperatorName::name);
  if (found == std::end(kOperatorNames)) refuse_rule(quoted_word(words.oper) + " is no operator");
  math.op = found->op;
  math.offset = number_or_variable(words.offset, -kOffsetMax, kOffsetMax, draft);
  math.value = number_or_variable(words.right, 1, std::numeric_limits<std::uint32_t>::max(), draft);
  math.relative = options.relative;
  math.format = format_of(words.bytes, options, draft);
  const bool shifts =
      math.op == ByteMath::Operator::kShiftLeft || math.op == ByteMath::Operator::kShiftRight;
  constexpr std::uint8_t kShiftedBytesMax = 4;
  if (shifts && math.format.bytes > kShiftedBytesMax) {
    refuse_rule("a shift takes at most 4 bytes");
  }
  math.variable = variable_for(words.result, draft);
  place_test(draft, math);
}

constexpr std::array kKeywords = {
    RuleKeyword{"byte_test", KeywordValue::kNeeded, add_byte_test},
    RuleKeyword{"byte_jump", KeywordValue::kNeeded, add_byte_jump},
    RuleKeyword{"byte_extract", KeywordValue::kNeeded, add_byte_extract},
    RuleKeyword{"byte_math", KeywordValue::kNeeded, add_byte_math},
};

}  // namespace

RuleKeywords byte_keywords() noexcept { return kKeywords; }

}  // namespace millrace
