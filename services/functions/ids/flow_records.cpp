// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_records.hpp"

#include <algorithm>

namespace millrace {

FlowRecord* FlowRecords::begin(const FlowTuple& tuple) noexcept {
  FlowRecord* const begun = table_.begin(tuple);
  if (begun != nullptr) begun->id = ++table_.own().next_id;
  return begun;
}

void FlowRecords::change_fate(FlowRecord& record) noexcept {
  state_.change(state_.offset_of(&record), kCacheLine);
}

void FlowRecords::change_parser(FlowRecord& record) noexcept {
  state_.change(state_.offset_of(&record.settled), kCacheLine);
}

void FlowRecords::change_flowbits(FlowRecord& record) noexcept { state_.change(record.flowbits); }

void FlowRecords::set_names(FlowRecord& record, std::uint32_t names) noexcept {
  if (record.names == names) return;
  change_fate(record);
  record.names = names;
  change_flowbits(record);
  std::ranges::fill(record.flowbits, 0);
}

}  // namespace millrace
