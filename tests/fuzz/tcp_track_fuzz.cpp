// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A connection of any segments: 12 bytes each, then options and data by their count. Nothing reads
// outside a segment, what is invalid changes no state, and state, time and windows stay in range.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/flow/tcp_track.hpp"
#include "shared/base/check.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace {

using millrace::TcpKind, millrace::TcpPolicy, millrace::TcpState, millrace::TcpStep,
    millrace::TcpTrack;
namespace wire_bytes = millrace::wire_bytes;

constexpr std::size_t kFrontBytes = 12, kHeaderBytes = 20;

/// direction and option words, flags, sequence and ACK near a few numbers, window, data bytes.
std::vector<std::byte> segment_of(std::span<const std::byte> front,
                                  std::span<const std::byte> options) {
  const std::size_t words = 5 + options.size() / 4;
  std::vector<std::byte> bytes(kHeaderBytes);
  wire_bytes::put32(bytes, 4, wire_bytes::u32(front, 2) & 0xc000ffff);
  wire_bytes::put32(bytes, 8, wire_bytes::u32(front, 6) & 0xc000ffff);
  bytes[12] = static_cast<std::byte>(words << 4);
  bytes[13] = front[1];
  bytes[14] = front[10];
  bytes[15] = front[11];
  bytes.insert(bytes.end(), options.begin(), options.end());
  bytes.resize(bytes.size() + wire_bytes::u8(front, 11) % 64);
  return bytes;
}

void check_track(const TcpTrack& track) {
  MILLRACE_CHECK(track.state < millrace::kTcpStates);
  const std::uint32_t time_s = millrace::tcp_timeout_s(track, {});
  MILLRACE_CHECK(millrace::state_of(track) == TcpState::kNone ||
                 (time_s >= 10 && time_s <= 432000));
  MILLRACE_CHECK(!millrace::is_assured(track) || millrace::is_answered(track));
  for (const TcpTrack::Side& side : track.side) MILLRACE_CHECK(side.scale <= 15);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const TcpPolicy policy{.pickup = (data[0] & 1) != 0, .liberal = (data[0] & 2) != 0};
  auto input = std::as_bytes(std::span(data, size)).subspan(1);
  std::optional<TcpTrack> track;
  while (input.size() >= kFrontBytes) {
    const auto front = input.first(kFrontBytes);
    input = input.subspan(kFrontBytes);
    const std::uint8_t shape = wire_bytes::u8(front, 0);
    const std::size_t options = std::min<std::size_t>(shape / 2 % 11, input.size() / 4) * 4;
    const auto bytes = segment_of(front, input.first(options));
    input = input.subspan(options);
    const auto segment = millrace::parse_tcp_segment(bytes);
    if (!segment) continue;
    MILLRACE_CHECK(segment->kind != TcpKind::kNone);
    if (!track) {
      track = millrace::begin_tcp(*segment, policy);
      if (track) check_track(*track);
      continue;
    }
    const TcpState before = millrace::state_of(*track);
    const TcpStep step = millrace::follow_tcp(*track, shape & 1, *segment, policy);
    check_track(*track);
    if (step == TcpStep::kInvalid || step == TcpStep::kIgnored || step == TcpStep::kReopened) {
      MILLRACE_CHECK(millrace::state_of(*track) == before || segment->kind == TcpKind::kSyn);
    }
    if (step == TcpStep::kOver) MILLRACE_CHECK(segment->kind == TcpKind::kReset);
    if (step == TcpStep::kOver || step == TcpStep::kReopened) track.reset();
  }
  return 0;
}
