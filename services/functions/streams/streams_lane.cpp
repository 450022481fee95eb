// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/streams_lane.hpp"

#include <algorithm>

#include "services/functions/ids/packets/packet_layers.hpp"
#include "services/functions/lane_share.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

using StreamTable = TupleTable<ToldStream, ToldCounts>;
constexpr std::uint32_t kStreamsMax = 1u << 24;  // of a lane

/// At the end of a lane's state.
struct Layout {
  std::uint32_t streams;  ///< 0: nothing is laid out so far
  std::uint32_t padding[15];
};
static_assert(sizeof(Layout) == kCacheLine);

Layout& layout_of(const LaneState& state) noexcept {
  return *reinterpret_cast<Layout*>(state.bytes.data() + state.bytes.size() - sizeof(Layout));
}

/// A datagram of 64 KiB has room in any lane.
FragmentTable::Shape fragments_for(std::uint32_t streams) noexcept {
  constexpr std::uint32_t kBlocksMin = 8 * FragmentTable::kBlocksMax, kBlocksMax = 1u << 16;
  constexpr std::uint32_t kBlocksOfDatagram = 2;
  const std::uint32_t blocks = std::clamp(streams, kBlocksMin, kBlocksMax);
  return {.datagrams = blocks / kBlocksOfDatagram, .blocks = blocks};
}

std::uint64_t bytes_for(std::uint32_t streams) noexcept {
  return StreamTable::bytes_for(streams) + FragmentTable::bytes_for(fragments_for(streams)) +
         InnerFlows::bytes_for(streams) + sizeof(Layout);
}

}  // namespace

StreamsLane::StreamsLane(std::uint64_t streams) : streams_(streams), secret_(random_secret()) {}

LaneNeeds StreamsLane::needs_of(std::uint64_t streams, const LaneRequest& request) {
  // A SYN, data and a restart change a connection; flows end by their own packet, by time, by room
  // and by their TCP.
  constexpr std::uint32_t kLinesOfStream = sizeof(ToldStream) / kCacheLine;
  constexpr std::uint32_t kLinesOfLayer = StreamTable::kLinesOfBegin + 1 + 3 * kLinesOfStream;
  constexpr std::uint32_t kEnds = 4;
  constexpr std::uint32_t kLinesOfStep = FragmentTable::kLinesOfSettle + AgedTable::kLinesOfBegin +
                                         InnerFlows::kLinesOfFollow +
                                         InnerFlows::kEndsMax * StreamTable::kLinesOfEnd;
  constexpr std::uint32_t kLinesOfPacket =
      FragmentTable::kLinesOfAdd + kEnds * StreamTable::kLinesOfEnd +
      PacketLayers::kLayersMax * (kLinesOfLayer + kLinesOfStep);
  constexpr std::uint32_t kLinesOfHeads = 5;
  return {.state_bytes = bytes_for(share_of_lane(streams, request.lanes, kStreamsMax)),
          .undo_lines = request.batch_capacity * kLinesOfPacket + kLinesOfHeads};
}

std::optional<StreamsTables> StreamsLane::tables_of(const LaneState& state,
                                                    const BatchFacts& facts) const noexcept {
  if (state.bytes.size() < sizeof(Layout)) return std::nullopt;
  Layout& layout = layout_of(state);
  if (layout.streams == 0) {
    const std::uint32_t streams = share_of_lane(streams_, facts.lane_count, kStreamsMax);
    if (state.bytes.size() != bytes_for(streams)) return std::nullopt;
    state.change(layout).streams = streams;
  }
  return laid_out(state);
}

std::optional<StreamsTables> StreamsLane::laid_out(const LaneState& state) const noexcept {
  if (state.bytes.size() < sizeof(Layout)) return std::nullopt;
  const std::uint32_t streams = layout_of(state).streams;
  if (streams == 0 || state.bytes.size() != bytes_for(streams)) return std::nullopt;
  const FragmentTable::Shape fragments = fragments_for(streams);
  const std::uint64_t fragments_at = StreamTable::bytes_for(streams);
  const std::uint64_t flows_at = fragments_at + FragmentTable::bytes_for(fragments);
  return StreamsTables{.streams = StreamTable(state, 0, streams, secret_),
                       .fragments = FragmentTable(state, fragments_at, fragments, secret_),
                       .inner_flows = InnerFlows(state, flows_at, streams, secret_)};
}

}  // namespace millrace
