// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_lane.hpp"

#include <algorithm>

#include "services/functions/stream/stream_reader.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRecordsMax = 1u << 24;

/// For as many flows without a stream as there are with one.
std::uint32_t records_for(std::uint32_t streams) noexcept {
  return std::min(2 * streams, kRecordsMax);
}

std::uint64_t own_bytes(std::uint32_t streams) noexcept {
  return FlowRecords::bytes_for(records_for(streams)) + RuleCounts::bytes_for(records_for(streams));
}

StreamRoom with_own(StreamRoom room) noexcept {
  room.own_bytes = own_bytes;
  return room;
}

}  // namespace

IdsLane::IdsLane(const StreamRoom& room) : lane_(with_own(room)), secret_(random_secret()) {}

LaneNeeds IdsLane::needs_of(const StreamRoom& room, const LaneRequest& request) {
  constexpr std::uint32_t kLinesOfRecord = 8;  // its fate, its parser, its flowbits, their names
  // A flow ends by its own packet, by time, by room and by its TCP.
  constexpr std::uint32_t kEnds = 4;
  constexpr std::uint32_t kLinesOfPacket =
      // A hole of each direction may be given up, with what a parser reads behind it.
      2 * (StreamReader::kLinesOfSkip + 1) + StreamReader::kLinesOfSegment +
      StreamReader::kLinesOfAcknowledgment + 2 * StreamTable::kLinesOfEnd +
      FlowRecords::kLinesOfBegin + kLinesOfRecord + kEnds * FlowRecords::kLinesOfEnd +
      kCountsOfPacket * RuleCounts::kLinesOfCount;
  LaneNeeds needs = StreamLane::needs_of(with_own(room), request, kLinesOfPacket);
  needs.undo_lines += 2;  // heads of the function's own
  return needs;
}

std::optional<IdsTables> IdsLane::tables_of(const LaneState& state,
                                            const BatchFacts& facts) const noexcept {
  return tables_behind(state, lane_.table_of(state, facts));
}

std::optional<IdsTables> IdsLane::laid_out(const LaneState& state) const noexcept {
  return tables_behind(state, lane_.laid_out(state));
}

std::optional<IdsTables> IdsLane::tables_behind(
    const LaneState& state, const std::optional<StreamTable>& streams) const noexcept {
  if (!streams) return std::nullopt;
  const std::uint32_t records = records_for(streams->shape().streams);
  const std::uint64_t at = StreamTable::bytes_for(streams->shape());
  return IdsTables{
      .streams = *streams,
      .records = FlowRecords(state, at, records, secret_),
      .counts = RuleCounts(state, at + FlowRecords::bytes_for(records), records, secret_)};
}

}  // namespace millrace
