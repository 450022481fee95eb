// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_segment.hpp"

#include <algorithm>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

constexpr std::uint8_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16, kUrg = 32;
constexpr std::size_t kHeaderBytesMin = 20;
constexpr std::uint8_t kEndOfOptions = 0, kNoOperation = 1, kWindowScale = 3, kSackPermitted = 4,
                       kSack = 5;
constexpr std::size_t kSackBlockBytes = 8;
constexpr std::uint8_t kShiftMax = 14;  // RFC 7323 2.3

bool valid(std::uint8_t flags) noexcept {
  switch (flags) {
    case kSyn:
    case kSyn | kUrg:
    case kSyn | kAck:
    case kRst:
    case kRst | kAck:
    case kFin | kAck:
    case kFin | kAck | kUrg:
    case kAck:
    case kAck | kUrg:
      return true;
    default:
      return false;
  }
}

TcpKind kind_of(std::uint8_t flags) noexcept {
  if ((flags & kRst) != 0) return TcpKind::kReset;
  if ((flags & kSyn) != 0) return (flags & kAck) != 0 ? TcpKind::kSynAck : TcpKind::kSyn;
  if ((flags & kFin) != 0) return TcpKind::kFin;
  return TcpKind::kAck;
}

void read_sack(std::span<const std::byte> blocks, TcpSegment& segment) noexcept {
  for (std::size_t at = 0; at + kSackBlockBytes <= blocks.size(); at += kSackBlockBytes) {
    const std::uint32_t edge = u32(blocks, at + 4);
    if (static_cast<std::int32_t>(edge - segment.sack) > 0) segment.sack = edge;
  }
}

void read_options(std::span<const std::byte> options, TcpSegment& segment) noexcept {
  while (!options.empty() && u8(options, 0) != kEndOfOptions) {
    const std::uint8_t type = u8(options, 0);
    if (type == kNoOperation) {
      options = options.subspan(1);
      continue;
    }
    const std::size_t bytes = options.size() < 2 ? 0 : u8(options, 1);
    if (bytes < 2 || bytes > options.size()) return;
    if (type == kWindowScale && bytes == 3) {
      segment.scale = static_cast<std::uint8_t>(std::min(u8(options, 2), kShiftMax) + 1);
    } else if (type == kSackPermitted && bytes == 2) {
      segment.may_sack = true;
    } else if (type == kSack && bytes % kSackBlockBytes == 2) {
      read_sack(options.first(bytes).subspan(2), segment);
    }
    options = options.subspan(bytes);
  }
}

}  // namespace

std::optional<TcpSegment> parse_tcp_segment(std::span<const std::byte> segment,
                                            bool first_fragment) noexcept {
  if (segment.size() < kHeaderBytesMin) return std::nullopt;
  const std::size_t header = std::size_t{u8(segment, 12)} / 16 * 4;
  if (header < kHeaderBytesMin || header > segment.size()) return std::nullopt;
  const std::uint8_t flags = u8(segment, 13) & (kFin | kSyn | kRst | kAck | kUrg);
  if (!valid(flags)) return std::nullopt;
  TcpSegment parsed;
  parsed.sequence = u32(segment, 4);
  parsed.end = parsed.sequence + static_cast<std::uint32_t>(segment.size() - header) +
               ((flags & kSyn) != 0 ? 1 : 0) + ((flags & kFin) != 0 ? 1 : 0);
  parsed.acknowledges = (flags & kAck) != 0;
  parsed.acknowledgment = parsed.acknowledges ? u32(segment, 8) : 0;
  parsed.sack = parsed.acknowledgment;
  parsed.window = u16(segment, 14);
  parsed.kind = kind_of(flags);
  parsed.goes_on = first_fragment;
  if (header > kHeaderBytesMin) {
    read_options(segment.first(header).subspan(kHeaderBytesMin), parsed);
  }
  return parsed;
}

}  // namespace millrace
