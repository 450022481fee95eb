// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/detect/test_text.hpp"
#include "services/functions/ids/rules/rule_match.hpp"

/// Where a content may stand, and whether it does.

namespace millrace {

/// The content lies in [low, high), places of the buffer.
struct ContentRange {
  static constexpr std::int64_t kUnbounded = INT64_MAX;
  std::int64_t low = 0, high = kUnbounded;
};

ContentRange range_of(const ContentMatch& content, std::int64_t cursor,
                      const RuleVariables& variables) noexcept;

/// Place of the first one at `from` or behind, within the range and the text; a content that has to
/// end the buffer is looked for at the end of the text alone. -1: there is none.
std::int64_t find_in_range(const ContentMatch& content, const ContentRange& range,
                           std::int64_t from, const TestText& text) noexcept;

/// Bytes that may follow can bring one.
bool can_come(const ContentMatch& content, const ContentRange& range,
              const TestText& text) noexcept;

/// A negated content. A content within bounds is absent once the bytes within them are there; one
/// without, as soon as the text's end counts as the buffer's.
Passed run_negated_content(const ContentMatch& content, const ContentRange& range,
                           const TestText& text) noexcept;

}  // namespace millrace
