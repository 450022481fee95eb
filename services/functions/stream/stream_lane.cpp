// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_lane.hpp"

#include <algorithm>

#include "services/functions/lane_share.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

/// At the end of a lane's state.
struct Layout {
  std::uint32_t lanes;  ///< 0: nothing is laid out so far
  std::uint32_t streams, blocks;
  std::uint32_t block_room;
  std::uint32_t padding[12];
};
static_assert(sizeof(Layout) == kCacheLine);

Layout& layout_of(const LaneState& state) noexcept {
  return *reinterpret_cast<Layout*>(state.bytes.data() + state.bytes.size() - sizeof(Layout));
}

/// Of one of `lanes` lanes.
StreamTable::Shape shape_of(const StreamRoom& room, std::uint32_t lanes) noexcept {
  constexpr std::uint32_t kMost = UINT32_MAX / 2;
  return {share_of_lane(room.streams, lanes, kMost),
          share_of_lane((room.memory_mb << 20) / kStreamBlockBytes, lanes, kMost)};
}

std::uint64_t bytes_for(const StreamRoom& room, const StreamTable::Shape& shape) noexcept {
  const std::uint64_t own = room.own_bytes == nullptr ? 0 : room.own_bytes(shape.streams);
  return StreamTable::bytes_for(shape) + own + sizeof(Layout);
}

}  // namespace

StreamLane::StreamLane(const StreamRoom& room) : room_(room), secret_(random_secret()) {}

LaneNeeds StreamLane::needs_of(const StreamRoom& room, const LaneRequest& request,
                               std::uint32_t lines_of_packet) {
  constexpr std::uint32_t kLinesOfHeads = 3;  // and the block before those that are free again
  // Flows that end by time, by room, and by their TCP: three for a packet at most.
  const std::uint32_t lines = lines_of_packet + 3 * StreamTable::kLinesOfEnd;
  return {.state_bytes = bytes_for(room, shape_of(room, request.lanes)),
          .undo_lines = request.batch_capacity * lines + kLinesOfHeads};
}

std::optional<StreamTable> StreamLane::table_of(const LaneState& state,
                                                const BatchFacts& facts) const noexcept {
  if (state.bytes.size() < sizeof(Layout)) return std::nullopt;
  Layout& layout = layout_of(state);
  if (layout.lanes == 0) {
    const StreamTable::Shape shape = shape_of(room_, facts.lane_count);
    if (state.bytes.size() != bytes_for(room_, shape)) return std::nullopt;
    state.change(state.bytes.size() - sizeof(Layout), sizeof(Layout));
    layout = {.lanes = facts.lane_count,
              .streams = shape.streams,
              .blocks = shape.blocks,
              .block_room = kStreamBlockRoom,
              .padding = {}};
  }
  return laid_out(state);
}

std::optional<StreamTable> StreamLane::laid_out(const LaneState& state) const noexcept {
  if (state.bytes.size() < sizeof(Layout)) return std::nullopt;
  const Layout& layout = layout_of(state);
  if (layout.lanes == 0 || layout.block_room != kStreamBlockRoom) return std::nullopt;
  const StreamTable::Shape shape = shape_of(room_, layout.lanes);
  if (shape.streams != layout.streams || shape.blocks != layout.blocks) return std::nullopt;
  return StreamTable(state, shape, secret_);
}

}  // namespace millrace
