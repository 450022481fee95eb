// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_lane.hpp"

#include <algorithm>

#include "services/functions/stream/stream_reader.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/random_secret.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRecordsMax = 1u << 24;

/// For as many flows without a stream as there are with one.
std::uint32_t records_for(std::uint32_t streams) noexcept {
  return std::min(2 * streams, kRecordsMax);
}

/// A block of 1 KiB a stream; a datagram of 64 KiB has room in any lane.
FragmentTable::Shape fragments_for(std::uint32_t streams) noexcept {
  constexpr std::uint32_t kBlocksMin = 2 * FragmentTable::kBlocksMax, kBlocksMax = 1u << 18;
  constexpr std::uint32_t kBlocksOfDatagram = 2;
  const std::uint32_t blocks = std::clamp(streams, kBlocksMin, kBlocksMax);
  return {.datagrams = blocks / kBlocksOfDatagram, .blocks = blocks};
}

/// As many as there are streams, which they share with those of no tunnel.
std::uint32_t inner_flows_for(std::uint32_t streams) noexcept {
  return std::min(streams, kRecordsMax);
}

std::uint64_t own_bytes(std::uint32_t streams) noexcept {
  return FlowRecords::bytes_for(records_for(streams)) +
         RuleCounts::bytes_for(records_for(streams)) +
         FragmentTable::bytes_for(fragments_for(streams)) +
         InnerFlows::bytes_for(inner_flows_for(streams)) + RefusedFlows::bytes();
}

StreamRoom with_own(StreamRoom room) noexcept {
  room.own_bytes = own_bytes;
  return room;
}

}  // namespace

void IdsTables::end(const FlowTuple& tuple, std::uint32_t now_s) noexcept {
  const FlowRecord* const record = records.find(tuple);
  const bool is_tcp = tuple.protocol == ip_protocol::kTcp;
  const bool is_dropped = record != nullptr && record->fate == FlowFate::kDropped;
  if (is_dropped && is_tcp) refused.add(tuple, now_s);
  records.end(tuple);
  if (is_tcp) streams.end(tuple);
}

IdsLane::IdsLane(const StreamRoom& room) : lane_(with_own(room)), secret_(random_secret()) {}

LaneNeeds IdsLane::needs_of(const StreamRoom& room, const LaneRequest& request) {
  constexpr std::uint32_t kLinesOfRecord = 8;  // its fate, its parser, its flowbits, their names
  // A flow ends by its own packet, by time, by room and by its TCP.
  constexpr std::uint32_t kEnds = 4;
  constexpr std::uint32_t kLinesOfRecordEnd = FlowRecords::kLinesOfEnd + RefusedFlows::kLinesOfAdd;
  constexpr std::uint32_t kLinesOfFlowEnd = StreamTable::kLinesOfEnd + kLinesOfRecordEnd;
  constexpr std::uint32_t kLinesOfLayer =
      StreamReader::kLinesOfAcknowledgment + 2 * StreamTable::kLinesOfEnd +
      FlowRecords::kLinesOfBegin + FlowRecords::kLinesOfEnd + kLinesOfRecord +
      kCountsOfPacket * RuleCounts::kLinesOfCount;
  constexpr std::uint32_t kLinesOfStep = FragmentTable::kLinesOfSettle + AgedTable::kLinesOfBegin +
                                         InnerFlows::kLinesOfFollow +
                                         InnerFlows::kEndsMax * kLinesOfFlowEnd;
  // One layer is a segment, or a fragment that is kept: nothing is in it.
  constexpr std::uint32_t kLinesOfPacket =
      std::max(StreamReader::kLinesOfSegment, FragmentTable::kLinesOfAdd) +
      // A hole of each direction may be given up, with what a parser reads behind it.
      2 * (StreamReader::kLinesOfSkip + 1) + kEnds * kLinesOfRecordEnd +
      kLayersMax * (kLinesOfLayer + kLinesOfStep);
  LaneNeeds needs = StreamLane::needs_of(with_own(room), request, kLinesOfPacket);
  needs.undo_lines += 4;  // heads of the function's own
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
  const FragmentTable::Shape fragments = fragments_for(streams->shape().streams);
  const std::uint64_t at = StreamTable::bytes_for(streams->shape());
  const std::uint64_t counts_at = at + FlowRecords::bytes_for(records);
  const std::uint64_t fragments_at = counts_at + RuleCounts::bytes_for(records);
  const std::uint32_t inner_flows = inner_flows_for(streams->shape().streams);
  const std::uint64_t inner_at = fragments_at + FragmentTable::bytes_for(fragments);
  return IdsTables{
      .streams = *streams,
      .records = FlowRecords(state, at, records, secret_),
      .counts = RuleCounts(state, counts_at, records, secret_),
      .fragments = FragmentTable(state, fragments_at, fragments, secret_),
      .inner_flows = InnerFlows(state, inner_at, inner_flows, secret_),
      .refused = RefusedFlows(state, inner_at + InnerFlows::bytes_for(inner_flows), secret_)};
}

}  // namespace millrace
