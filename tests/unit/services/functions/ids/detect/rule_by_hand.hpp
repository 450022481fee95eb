// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// Signatures put together without a parser, and a search that tries each place of a text.

namespace millrace::by_hand {

inline ContentMatch content(std::string bytes, bool nocase = false) {
  ContentMatch match;
  match.bytes = std::move(bytes);
  match.nocase = nocase;
  return match;
}

struct Rule {
  Signature signature;
  explicit Rule(RuleProtocol protocol, std::uint32_t sid = 1) {
    signature.protocol = protocol;
    signature.sid = sid;
  }
  /// One more test; of the payload, or of another buffer.
  Rule& asks(Match test, RuleBuffer buffer = RuleBuffer::kPayload) {
    const auto same = [&](const BufferTests& tests) { return tests.buffer == buffer; };
    auto at = std::ranges::find_if(signature.buffers, same);
    if (at == signature.buffers.end()) {
      signature.buffers.push_back({.buffer = buffer, .transforms = {}, .tests = {}});
      at = signature.buffers.end() - 1;
    }
    at->tests.push_back(std::move(test));
    return *this;
  }
  Rule& fast(std::uint16_t buffer, std::uint16_t test) {
    const auto& match = std::get<ContentMatch>(signature.buffers[buffer].tests[test]);
    signature.fast_pattern = FastPattern{.buffer = buffer,
                                         .test = test,
                                         .offset = 0,
                                         .length = static_cast<std::uint16_t>(match.bytes.size())};
    return *this;
  }
  operator Signature() const { return signature; }  // NOLINT(google-explicit-*)
};

inline BufferValue value_of(std::string_view text, std::uint32_t seen = 0) {
  return {.bytes = std::as_bytes(std::span{text}), .base = 0, .seen = seen, .is_complete = false};
}

inline char folded(char byte, bool nocase) {
  const auto value = static_cast<unsigned char>(byte);
  return nocase ? static_cast<char>(std::tolower(value)) : byte;
}

/// The literal stands in the text and ends behind the first `seen` bytes.
inline bool ends_behind(std::string_view text, std::size_t seen, std::string_view literal,
                        bool nocase) {
  for (std::size_t at = 0; at + literal.size() <= text.size(); ++at) {
    bool equal = at + literal.size() > seen;
    for (std::size_t i = 0; equal && i < literal.size(); ++i) {
      equal = folded(text[at + i], nocase) == folded(literal[i], nocase);
    }
    if (equal) return true;
  }
  return false;
}

}  // namespace millrace::by_hand
