// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_segment.hpp"

#include <algorithm>

#include "shared/packet/option_walk.hpp"
#include "shared/packet/tcp_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using tcp_wire::kFin, tcp_wire::kSyn, tcp_wire::kReset, tcp_wire::kAck, tcp_wire::kUrgent;
using tcp_wire::kHeaderBytesMin;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

constexpr std::uint8_t kWindowScale = 3, kSackPermitted = 4, kSack = 5;
constexpr std::size_t kSackBlockBytes = 8;
constexpr std::uint8_t kShiftMax = 14;  // RFC 7323 2.3

bool valid(std::uint8_t flags) noexcept {
  switch (flags) {
    case kSyn:
    case kSyn | kUrgent:
    case kSyn | kAck:
    case kReset:
    case kReset | kAck:
    case kFin | kAck:
    case kFin | kAck | kUrgent:
    case kAck:
    case kAck | kUrgent:
      return true;
    default:
      return false;
  }
}

TcpKind kind_of(std::uint8_t flags) noexcept {
  if ((flags & kReset) != 0) return TcpKind::kReset;
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

void read_options(std::span<const std::byte> header, TcpSegment& segment) noexcept {
  for (OptionWalk walk(header); walk.next() && !walk.malformed();) {
    const std::span<const std::byte> option = header.subspan(walk.at(), walk.bytes());
    const std::uint8_t type = u8(option, 0);
    if (type == kWindowScale && option.size() == 3) {
      segment.scale = static_cast<std::uint8_t>(std::min(u8(option, 2), kShiftMax) + 1);
    } else if (type == kSackPermitted && option.size() == 2) {
      segment.may_sack = true;
    } else if (type == kSack && option.size() % kSackBlockBytes == 2) {
      read_sack(option.subspan(2), segment);
    }
  }
}

}  // namespace

std::optional<TcpSegment> parse_tcp_segment(std::span<const std::byte> segment,
                                            bool first_fragment) noexcept {
  if (segment.size() < kHeaderBytesMin) return std::nullopt;
  const std::size_t header = std::size_t{u8(segment, tcp_wire::kOffsetAt)} / 16 * 4;
  if (header < kHeaderBytesMin || header > segment.size()) return std::nullopt;
  const std::uint8_t flags =
      u8(segment, tcp_wire::kFlagsAt) & (kFin | kSyn | kReset | kAck | kUrgent);
  if (!valid(flags)) return std::nullopt;
  TcpSegment parsed;
  parsed.sequence = u32(segment, tcp_wire::kSequenceAt);
  parsed.end = parsed.sequence + static_cast<std::uint32_t>(segment.size() - header) +
               ((flags & kSyn) != 0 ? 1 : 0) + ((flags & kFin) != 0 ? 1 : 0);
  parsed.acknowledges = (flags & kAck) != 0;
  parsed.acknowledgment = parsed.acknowledges ? u32(segment, tcp_wire::kAcknowledgmentAt) : 0;
  parsed.sack = parsed.acknowledgment;
  parsed.window = u16(segment, tcp_wire::kWindowAt);
  parsed.kind = kind_of(flags);
  parsed.goes_on = first_fragment;
  if (header > kHeaderBytesMin) read_options(segment.first(header), parsed);
  return parsed;
}

}  // namespace millrace
