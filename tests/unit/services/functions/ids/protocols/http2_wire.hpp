// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "services/functions/ids/protocols/http2_frames.hpp"

/// Frames of HTTP/2 as tests write them, by RFC 9113 4.1 and RFC 7541.

namespace millrace::http2_wire {

inline std::string number(std::uint32_t value, std::size_t bytes) {
  std::string made(bytes, '\0');
  for (std::size_t i = bytes; i > 0; --i, value >>= 8) made[i - 1] = static_cast<char>(value);
  return made;
}

inline std::string frame(Http2Type type, std::uint8_t flags, std::uint32_t stream,
                         std::string_view payload) {
  std::string made = number(static_cast<std::uint32_t>(payload.size()), 3);
  made += static_cast<char>(type);
  made += static_cast<char>(flags);
  return made.append(number(stream, 4)).append(payload);
}

using Pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;
/// Literals without an index (6.2.2), each text shorter than 127 bytes.
inline std::string block(const Pairs& headers) {
  std::string made;
  for (const auto& [name, value] : headers) {
    made += '\0';
    made += static_cast<char>(name.size());
    made += name;
    made += static_cast<char>(value.size());
    made += value;
  }
  return made;
}

inline constexpr std::uint8_t kWhole = http2_flags::kEndHeaders | http2_flags::kEndStream;
inline std::string headers(std::uint32_t stream, const Pairs& pairs,
                           std::uint8_t flags = http2_flags::kEndHeaders) {
  return frame(Http2Type::kHeaders, flags, stream, block(pairs));
}
inline std::string get(std::uint32_t stream, std::string_view path) {
  return headers(stream, {{":method", "GET"}, {":path", path}, {":authority", "A.test:80"}},
                 kWhole);
}
inline std::string data(std::uint32_t stream, std::string_view bytes, bool is_last = true) {
  return frame(Http2Type::kData, is_last ? http2_flags::kEndStream : 0, stream, bytes);
}

}  // namespace millrace::http2_wire
