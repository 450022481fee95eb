// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/layout/batch.hpp"
#include "shared/layout/status_file.hpp"
#include "shared/recovery/hooks.hpp"

/// How a batch's end gets into its lane's ledger: by the egress, or by recovery while that egress
/// is dead.

namespace millrace {

/// Starts the next record, from the complete one: running counts up to and with this batch. It is
/// written in place, and counts for nobody before publish().
inline LaneRecord& begin_record(LaneLedger& ledger, const SlotHeader& batch) noexcept {
  const std::uint64_t flips = ledger.flips.load(std::memory_order_relaxed);
  hook(HookPoint::kSendRecord);
  LaneRecord& record = ledger.record[(flips + 1) & 1];
  record = ledger.record[flips & 1];
  record.unaccounted += batch.received_total - record.received - batch.count;
  record.released_sequence = batch.sequence;
  record.received = batch.received_total;
  record.received_bytes = batch.received_bytes_total;
  record.position = batch.position;
  ++record.batches;
  return record;
}

/// Makes the record that was begun the complete one. The slot may become free only afterwards.
inline void publish(LaneLedger& ledger) noexcept {
  const std::uint64_t flips = ledger.flips.load(std::memory_order_relaxed) + 1;
  hook(HookPoint::kSendFlip);
  ledger.flips.store(flips, std::memory_order_release);
  ledger.released.store(ledger.record[flips & 1].released_sequence, std::memory_order_release);
}

}  // namespace millrace
