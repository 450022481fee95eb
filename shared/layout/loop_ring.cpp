// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/loop_ring.hpp"

#include <algorithm>

#include "shared/config/loop.hpp"

namespace millrace {

namespace {

/// What a length column can say at most.
std::uint32_t room_of(std::uint32_t buffer_stride) {
  return std::min<std::uint32_t>(buffer_stride - kBufferHeadroom, UINT16_MAX);
}

}  // namespace

std::uint32_t loop_entry_bytes(std::uint32_t buffer_stride) {
  constexpr auto kLine = static_cast<std::uint32_t>(kCacheLine);
  const auto bytes = static_cast<std::uint32_t>(sizeof(LoopEntry)) + room_of(buffer_stride);
  return (bytes + kLine - 1) / kLine * kLine;
}

std::uint64_t loop_ring_bytes(std::uint32_t depth, std::uint32_t buffer_stride) {
  return sizeof(LoopHeader) + std::uint64_t{depth} * loop_entry_bytes(buffer_stride);
}

std::vector<LoopPlace> loop_places(const Plan& plan) {
  std::vector<LoopPlace> places;
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    const PlanPort& port = plan.ports[plan.streams[stream].port];
    if (!is_loop(port)) continue;
    for (const PlanActor& actor : plan.actors) {
      if (actor.kind != ActorKind::kEgress) continue;
      places.push_back({.stream = stream, .egress = actor.index, .depth = loop_depth(port)});
    }
    if (plan.streams[stream].queue != 0 || loop_tick_ms(port) == 0) continue;
    places.push_back({.stream = stream, .egress = kLoopTicks, .depth = kLoopTicksDepth});
  }
  return places;
}

LoopRing::LoopRing(std::byte* base, std::uint32_t depth, std::uint32_t buffer_stride)
    : base_(base),
      depth_(depth),
      room_(room_of(buffer_stride)),
      entry_bytes_(loop_entry_bytes(buffer_stride)) {}

}  // namespace millrace
