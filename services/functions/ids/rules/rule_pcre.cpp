// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_pcre.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "shared/base/quoted.hpp"

/// `pcre`.

namespace millrace {
namespace {

struct FlagLetter {
  char letter;
  std::uint32_t flag;
};
constexpr FlagLetter kFlagLetters[] = {
    {'i', PCRE2_CASELESS},
    {'s', PCRE2_DOTALL},
    {'m', PCRE2_MULTILINE},
    {'x', PCRE2_EXTENDED},
    {'A', PCRE2_ANCHORED},
    {'E', PCRE2_DOLLAR_ENDONLY},
    {'G', PCRE2_UNGREEDY},
    {'O', 0},  // Snort: no limit of its own
    {'B', 0},  // rawbytes
};
struct BufferLetter {
  char letter;
  RuleBuffer buffer;
};
constexpr BufferLetter kBufferLetters[] = {
    {'U', RuleBuffer::kHttpUri},         {'I', RuleBuffer::kHttpRawUri},
    {'P', RuleBuffer::kHttpRequestBody}, {'Q', RuleBuffer::kHttpResponseBody},
    {'H', RuleBuffer::kHttpHeader},      {'D', RuleBuffer::kHttpRawHeader},
    {'M', RuleBuffer::kHttpMethod},      {'C', RuleBuffer::kHttpCookie},
    {'S', RuleBuffer::kHttpStatusCode},  {'Y', RuleBuffer::kHttpStatusMessage},
    {'V', RuleBuffer::kHttpUserAgent},   {'W', RuleBuffer::kHttpHost},
    {'Z', RuleBuffer::kHttpRawHost},
};

struct Letters {
  std::uint32_t flags = 0;
  bool relative = false, raw = false;
  RuleBuffer buffer = RuleBuffer::kPayload;  ///< that: no letter names one
  bool names_buffer() const noexcept { return buffer != RuleBuffer::kPayload; }
};

void take_letter(char letter, const RuleDraft& draft, Letters& letters) {
  const auto* const flag = std::ranges::find(kFlagLetters, letter, &FlagLetter::letter);
  if (flag != std::end(kFlagLetters)) {
    letters.flags |= flag->flag;
    letters.raw = letters.raw || letter == 'B';
    return;
  }
  if (letter == 'R') {
    letters.relative = true;
    return;
  }
  const auto* const buffer = std::ranges::find(kBufferLetters, letter, &BufferLetter::letter);
  if (buffer == std::end(kBufferLetters) || draft.is_snort3) {
    refuse_rule("the flag " + quoted_word({&letter, 1}) + " is not known");
  }
  if (letters.names_buffer()) refuse_rule("two of its flags name a buffer");
  letters.buffer = buffer->buffer;
}

Letters read_letters(std::string_view text, const RuleDraft& draft) {
  Letters letters;
  for (const char letter : text) take_letter(letter, draft, letters);
  if (letters.raw && letters.names_buffer()) refuse_rule("the flag 'B' does not go with a buffer");
  const bool is_sticky = draft.buffer != RuleBuffer::kPayload;
  if (letters.names_buffer() && is_sticky && letters.buffer != draft.buffer) {
    refuse_rule("its flags name another buffer than the sticky one");
  }
  if (is_sticky) letters.buffer = RuleBuffer::kPayload;
  return letters;
}

/// What stands between the first and the last quote: those within an expression need no backslash.
QuotedValue expression_of(std::string_view value) {
  QuotedValue found;
  found.negated = value.starts_with('!');
  if (found.negated) value = without_blanks(value.substr(1));
  found.text = unquoted(value);
  if (found.text.size() == value.size()) refuse_rule("its value stands in no double quotes");
  return found;
}

void add_expression(const RuleOption& option, RuleDraft& draft) {
  const QuotedValue value = expression_of(option.value);
  const std::size_t first = value.text.find('/');
  const std::size_t last = value.text.rfind('/');
  if (first == std::string_view::npos || first == last ||
      !without_blanks(value.text.substr(0, first)).empty()) {
    refuse_rule("the expression stands between no slashes");
  }
  const Letters letters = read_letters(without_blanks(value.text.substr(last + 1)), draft);
  PcreMatch match;
  match.expression = value.text.substr(first + 1, last - first - 1);
  match.flags = letters.flags;
  match.relative = letters.relative;
  match.negated = value.negated;
  if (match.expression.empty()) refuse_rule("an empty expression");
  check_expression(match.expression, match.flags);
  if (letters.names_buffer()) return add_test_to(draft, letters.buffer, std::move(match));
  add_test(draft, std::move(match));
}

constexpr std::array kKeywords = {RuleKeyword{"pcre", KeywordValue::kNeeded, add_expression}};

struct FreesCode {
  void operator()(pcre2_code* code) const noexcept { pcre2_code_free(code); }
};

}  // namespace

std::uint32_t check_expression(const std::string& expression, std::uint32_t flags) {
  int error = 0;
  PCRE2_SIZE place = 0;
  const std::unique_ptr<pcre2_code, FreesCode> code{
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), flags,
                    &error, &place, nullptr)};
  if (!code) {
    constexpr std::size_t kMessageBytes = 256;
    std::array<PCRE2_UCHAR, kMessageBytes> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    refuse_rule(std::string(reinterpret_cast<const char*>(message.data())) + " at byte " +
                std::to_string(place));
  }
  std::uint32_t groups = 0;
  pcre2_pattern_info(code.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  return groups;
}

RuleKeywords pcre_keywords() noexcept { return kKeywords; }

}  // namespace millrace
