// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// base64_decode and base64_data.

namespace millrace {
namespace {

/// "bytes 300, offset 0, relative", of which all may be missing.
Base64Decode read_decode(std::string_view value) {
  Base64Decode test;
  if (value.empty()) return test;
  for (const std::string_view part : split_list(value, ',')) {
    const NamedValue option = split_named(part);
    if (option.name == "bytes") {
      test.bytes = static_cast<std::uint32_t>(number_of(option.value, 1, Base64Decode::kBytesMax));
    } else if (option.name == "offset") {
      test.offset = static_cast<std::uint32_t>(number_of(option.value, 0, UINT16_MAX));
    } else if (part == "relative") {
      test.relative = true;
    } else {
      refuse_rule(quoted_word(part) + " is none of bytes, offset, relative");
    }
  }
  return test;
}

bool is_decode(const Match& match) noexcept { return std::holds_alternative<Base64Decode>(match); }

bool has_decode(const BufferTests& tests) noexcept {
  return std::ranges::any_of(tests.tests, is_decode);
}

/// As in Suricata it is about the buffer of the test before, relative or not.
void add_decode(const RuleOption& option, RuleDraft& draft) {
  if (draft.buffer == RuleBuffer::kBase64Data) refuse_rule("what is decoded is not decoded again");
  if (std::ranges::any_of(draft.signature.buffers, has_decode)) {
    refuse_rule("it stands twice in the rule");
  }
  Base64Decode test = read_decode(option.value);
  if (draft.is_snort3) test.form = Base64Form::kFolded;
  add_relative_test(draft, std::move(test));
}

constexpr std::array kKeywords = {
    RuleKeyword{"base64_decode", KeywordValue::kOptional, add_decode},
};

}  // namespace

RuleKeywords base64_keywords() noexcept { return kKeywords; }

void settle_base64(RuleDraft& draft) {
  std::vector<BufferTests>& buffers = draft.signature.buffers;
  const auto data = std::ranges::find(buffers, RuleBuffer::kBase64Data, &BufferTests::buffer);
  if (data == buffers.end()) return;
  const auto at = static_cast<std::size_t>(data - buffers.begin());
  auto& wanted = draft.wanted_fast_pattern;
  if (wanted && wanted->buffer == at) {
    throw RuleRefused{"fast_pattern", "it does not go with base64_data"};
  }
  const auto from = std::ranges::find_if(buffers, has_decode);
  if (from == buffers.end()) {
    throw RuleRefused{"base64_data", "no base64_decode stands in the rule"};
  }
  auto& decode = std::get<Base64Decode>(*std::ranges::find_if(from->tests, is_decode));
  decode.decoded = std::make_shared<const BufferTests>(std::move(*data));
  buffers.erase(data);
  if (wanted && wanted->buffer > at) --wanted->buffer;
}

}  // namespace millrace
