// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/content_range.hpp"

#include <algorithm>

#include "services/functions/ids/detect/byte_tests.hpp"
#include "services/functions/ids/detect/content_search.hpp"

namespace millrace {
namespace {

constexpr std::int64_t kNumberMax = UINT32_MAX;

/// Within 32 bits and a sign: sums of places do not overflow.
std::int64_t number_of(const std::optional<RuleNumber>& number,
                       const RuleVariables& variables) noexcept {
  return number ? std::clamp(value_of(*number, variables), -kNumberMax, kNumberMax) : 0;
}

std::int64_t length_of(const ContentMatch& content) noexcept {
  return static_cast<std::int64_t>(content.bytes.size());
}

Needle needle_of(const ContentMatch& content) noexcept {
  return {.bytes = content.bytes, .nocase = content.nocase};
}

}  // namespace

ContentRange range_of(const ContentMatch& content, std::int64_t cursor,
                      const RuleVariables& variables) noexcept {
  ContentRange range;
  const std::int64_t offset = number_of(content.offset, variables);
  range.low = std::max<std::int64_t>(offset, 0);
  if (content.depth) range.high = offset + number_of(content.depth, variables);
  if (content.starts_with) range.high = std::min(range.high, range.low + length_of(content));
  if (!content.is_relative()) return range;
  const std::int64_t origin = cursor + number_of(content.distance, variables);
  range.low = std::max(range.low, origin);
  if (content.within) {
    range.high = std::min(range.high, origin + number_of(content.within, variables));
  }
  return range;
}

std::int64_t find_in_range(const ContentMatch& content, const ContentRange& range,
                           std::int64_t from, const TestText& text) noexcept {
  const std::int64_t low = std::max({range.low, from, text.begin});
  const std::int64_t high = std::min(range.high, text.end());
  if (low > high || length_of(content) > high - low) return -1;
  if (content.ends_with) {
    const std::int64_t at = text.end() - length_of(content);
    const bool is_there =
        range.high >= text.end() && is_content_at(text.bytes, text.index(at), needle_of(content));
    return is_there ? at : -1;
  }
  const std::size_t at =
      find_content(text.bytes.first(text.index(high)), text.index(low), needle_of(content));
  return at == kNotFound ? -1 : text.begin + static_cast<std::int64_t>(at);
}

bool can_come(const ContentMatch& content, const ContentRange& range,
              const TestText& text) noexcept {
  if (text.is_complete || length_of(content) > range.high - range.low) return false;
  return content.ends_with ? range.high >= text.end() : range.high > text.end();
}

Passed run_negated_content(const ContentMatch& content, const ContentRange& range,
                           const TestText& text) noexcept {
  if (length_of(content) > range.high - range.low) return Passed::kYes;
  const bool is_there = find_in_range(content, range, range.low, text) >= 0;
  // What ends these bytes need not end the buffer.
  if (is_there) return content.ends_with && !text.is_complete ? Passed::kLater : Passed::kNo;
  if (text.is_complete || range.high < text.end()) return Passed::kYes;
  if (content.ends_with) return text.ends_here ? Passed::kYes : Passed::kLater;
  if (range.high == text.end()) return Passed::kYes;
  const bool is_bounded = range.high != ContentRange::kUnbounded;
  return text.ends_here && !is_bounded ? Passed::kYes : Passed::kLater;
}

}  // namespace millrace
