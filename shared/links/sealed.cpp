// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/sealed.hpp"

#include "shared/base/check.hpp"

namespace millrace {

std::vector<SealedLane> find_sealed(const ActorContext& context, std::uint32_t stream) {
  const PlanStream& plan = context.plan->streams[stream];
  std::vector<SealedLane> lanes(context.segment.layout().lane_count);
  // Slots before ledgers: a batch that leaves a slot meanwhile is in its ledger by then.
  for (std::uint32_t i = 0; i < plan.slot_count; ++i) {
    const SlotHeader& header = context.segment.slot(plan.slot_first + i);
    const auto state = SlotState::from_word(header.state.load(std::memory_order_acquire));
    if (state.kind == SlotKind::kFree || state.kind == SlotKind::kFilling) continue;
    MILLRACE_CHECK(header.lane < lanes.size());
    SealedLane& lane = lanes[header.lane];
    if (header.sequence <= lane.sequence) continue;
    lane = {header.sequence, header.received_total, header.received_bytes_total, header.position};
  }
  for (const std::uint32_t number : lanes_of(*context.plan, plan)) {
    const LaneRecord record = read_record(context.status.ledger(stream, number));
    if (record.released_sequence < lanes[number].sequence) continue;
    lanes[number] = {record.released_sequence, record.received, record.received_bytes,
                     record.position};
  }
  return lanes;
}

}  // namespace millrace
