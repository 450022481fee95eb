// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <limits>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/quoted.hpp"

/// Keywords about how many bytes there are.

namespace millrace {
namespace {

constexpr std::int64_t kPlaceMax = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint32_t kSizeMax = std::numeric_limits<std::uint32_t>::max();

BufferSize size_of(const NumberTest& test) {
  return {.low = test.low, .high = test.high, .negated = test.negated};
}

/// "!10,relative".
void add_data_at(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(unquoted(option.value), ',');
  IsDataAt test;
  std::string_view place = parts[0];
  test.negated = place.starts_with('!');
  if (test.negated) place.remove_prefix(1);
  for (std::size_t at = 1; at < parts.size(); ++at) {
    if (parts[at] == "relative") {
      test.relative = true;
    } else if (parts[at] != "rawbytes") {
      refuse_rule(quoted_word(parts[at]) + " is neither relative nor rawbytes");
    }
  }
  test.at = number_or_variable(split_named(place).name, 0, kPlaceMax, draft);
  if (test.relative) return add_relative_test(draft, test);
  add_test(draft, test);
}

void add_buffer_size(const RuleOption& option, RuleDraft& draft) {
  if (draft.buffer == RuleBuffer::kPayload) {
    refuse_rule("no sticky buffer stands in front of it; of packets there is dsize");
  }
  add_test(draft, size_of(number_test_of(option.value, kSizeMax)));
}

/// Snort 3.
void add_buffer_length(const RuleOption& option, RuleDraft& draft) {
  if (option.value.find(',') != std::string::npos) refuse_rule("relative is not supported");
  add_buffer_size(option, draft);
}

/// "<10,raw".
void add_uri_length(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(unquoted(option.value), ',');
  constexpr std::size_t kPartsMax = 2;
  RuleBuffer buffer = RuleBuffer::kHttpUri;
  if (parts.size() > kPartsMax) refuse_rule("it has a length and norm or raw");
  if (parts.size() == kPartsMax) {
    if (parts[1] != "norm" && parts[1] != "raw") {
      refuse_rule(quoted_word(parts[1]) + " is neither norm nor raw");
    }
    if (parts[1] == "raw") buffer = RuleBuffer::kHttpRawUri;
  }
  add_test_to(draft, buffer, size_of(number_test_of(parts[0], kSizeMax)));
}

constexpr std::array kKeywords = {
    RuleKeyword{"isdataat", KeywordValue::kNeeded, add_data_at},
    RuleKeyword{"bsize", KeywordValue::kNeeded, add_buffer_size},
    RuleKeyword{"bufferlen", KeywordValue::kNeeded, add_buffer_length},
    RuleKeyword{"urilen", KeywordValue::kNeeded, add_uri_length},
};

}  // namespace

RuleKeywords size_keywords() noexcept { return kKeywords; }

}  // namespace millrace
