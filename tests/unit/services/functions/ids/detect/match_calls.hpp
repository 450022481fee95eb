// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/detect/buffer_matcher.hpp"

/// The matcher, asked about strings.

namespace millrace::match_oracle {

inline BufferTests of_body(std::vector<Match> tests) {
  return {.buffer = RuleBuffer::kFileData, .tests = std::move(tests)};
}
inline BufferTests of_stream(std::vector<Match> tests) {
  return {.buffer = RuleBuffer::kPayload, .tests = std::move(tests)};
}

/// What the matcher says of a text of which `seen` bytes were looked at.
inline Look look_at(const BufferMatcher& matcher, const std::string& text, bool is_complete = true,
                    std::size_t seen = 0) {
  static MatcherScratch scratch;
  RuleVariables variables;
  return matcher.look({.bytes = std::as_bytes(std::span(text)),
                       .seen = static_cast<std::uint32_t>(seen),
                       .is_complete = is_complete},
                      variables, scratch);
}

inline Found found_in(const std::vector<Match>& tests, const std::string& text) {
  const BufferTests buffer = of_body(tests);
  return look_at(BufferMatcher(buffer), text).found;
}

}  // namespace millrace::match_oracle
