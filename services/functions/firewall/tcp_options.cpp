// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/tcp_options.hpp"

#include <algorithm>

#include "shared/packet/option_walk.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

constexpr std::uint8_t kMss = 2, kScale = 3, kMaySack = 4, kSack = 5, kTimestamp = 8;
constexpr std::size_t kMssBytes = 4, kScaleBytes = 3, kMaySackBytes = 2, kTimestampBytes = 10;
constexpr std::uint8_t kShiftMax = 14;  // RFC 7323 2.3

/// One option of `bytes` bytes at `at`.
void read_option(std::span<const std::byte> segment, std::size_t at, std::size_t bytes,
                 TcpOptions& options) noexcept {
  const std::uint8_t type = u8(segment, at);
  if (type == kMss && bytes == kMssBytes) {
    options.mss = u16(segment, at + 2);
  } else if (type == kScale && bytes == kScaleBytes) {
    options.scale = static_cast<std::uint8_t>(std::min(u8(segment, at + 2), kShiftMax) + 1);
  } else if (type == kMaySack && bytes == kMaySackBytes) {
    options.may_sack = true;
  } else if (type == kTimestamp && bytes == kTimestampBytes) {
    options.has_timestamp = true;
    options.timestamp_at = at + 2;
    options.value = u32(segment, at + 2);
    options.echo = u32(segment, at + 6);
  } else if (type == kSack && bytes % 8 == 2) {
    options.sack_at = at + 2;
    options.sack_edges = (bytes - 2) / 4;
  }
}

}  // namespace

TcpOptions read_tcp_options(std::span<const std::byte> segment) noexcept {
  TcpOptions options;
  if (segment.size() < tcp_wire::kHeaderBytesMin) return options;
  const std::size_t end = std::size_t{u8(segment, tcp_wire::kOffsetAt)} / 16 * 4;
  if (end > segment.size()) return options;
  for (OptionWalk walk(segment.first(end)); walk.next() && !walk.malformed();) {
    read_option(segment, walk.at(), walk.bytes(), options);
  }
  return options;
}

std::size_t put_tcp_options(const TcpOptions& options, std::span<std::byte> to) noexcept {
  std::size_t at = 0;
  const auto begin = [&](std::uint8_t type, std::size_t bytes) {
    put8(to, at, type);
    put8(to, at + 1, static_cast<std::uint8_t>(bytes));
    at += 2;
  };
  const auto nothing = [&] { put8(to, at++, OptionWalk::kNoOperation); };
  if (options.mss != 0) {
    begin(kMss, kMssBytes);
    put16(to, at, options.mss);
    at += 2;
  }
  if (options.may_sack || options.has_timestamp) {
    if (options.may_sack) {
      begin(kMaySack, kMaySackBytes);
    } else {
      nothing(), nothing();
    }
    if (options.has_timestamp) {
      begin(kTimestamp, kTimestampBytes);
      put32(to, at, options.value);
      put32(to, at + 4, options.echo);
      at += 8;
    } else {
      nothing(), nothing();
    }
  }
  if (options.scale != 0) {
    nothing();
    begin(kScale, kScaleBytes);
    put8(to, at++, static_cast<std::uint8_t>(options.scale - 1));
  }
  return at;
}

}  // namespace millrace
