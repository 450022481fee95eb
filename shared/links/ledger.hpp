// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/base/hooks.hpp"
#include "shared/layout/batch.hpp"
#include "shared/layout/status_file.hpp"

/// Writes a batch's end into its lane's ledger. Called by the egress, or by recovery while that
/// egress is dead.

namespace millrace {

/// Version of a record whose counts by reason are being copied.
inline constexpr std::uint64_t kEndsAreCopied = UINT64_MAX;

/// Starts the next record, as a copy of the complete one. It is written in place, and no reader
/// sees it before publish(). Counts by reason, 24 cache lines, are copied only if they have changed
/// since the record before last: seldom, when packets are transmitted.
inline LaneRecord& begin_amendment(LaneLedger& ledger) noexcept {
  const std::uint64_t flips = ledger.flips.load(std::memory_order_relaxed);
  hook(HookPoint::kSendRecord);
  LaneRecord& record = ledger.record[(flips + 1) & 1];
  const LaneRecord& last = ledger.record[flips & 1];
  const std::uint64_t version = last.ends_version;
  if (record.ends_version != version) [[unlikely]] {
    record.ends_version = kEndsAreCopied;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(record.dropped, last.dropped, sizeof record.dropped);
    std::memcpy(record.consumed, last.consumed, sizeof record.consumed);
    std::memcpy(record.generated, last.generated, sizeof record.generated);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  std::memcpy(&record, &last, offsetof(LaneRecord, dropped));
  return record;
}

/// Counts a packet's end, or that it is generated. `counts`: one of the record's arrays by reason.
inline void count_end(LaneRecord& record, std::uint64_t (&counts)[kReasonCount], std::uint8_t why,
                      std::uint64_t packets = 1) noexcept {
  ++record.ends_version;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  counts[why % kReasonCount] += packets;
}
inline void count_end(LaneRecord& record, std::uint64_t (&counts)[kReasonCount], Reason why,
                      std::uint64_t packets = 1) noexcept {
  count_end(record, counts, static_cast<std::uint8_t>(why), packets);
}

/// Whether a packet that ends for this reason is counted among those that wait.
constexpr bool counts_as_held(std::uint8_t why) noexcept {
  return why % kReasonCount == static_cast<std::size_t>(Reason::kHeld);
}

/// Whether a packet of the batch waits at the egress: consumed{held}.
inline bool is_held(const Batch& batch, std::uint32_t packet) noexcept {
  return batch.verdict[packet] == static_cast<std::uint8_t>(Verdict::kConsumed) &&
         counts_as_held(batch.reason[packet]);
}

/// Starts the next record: running counts up to and with this batch.
inline LaneRecord& begin_record(LaneLedger& ledger, const SlotHeader& batch) noexcept {
  LaneRecord& record = begin_amendment(ledger);
  MILLRACE_CHECK(batch.sequence == record.released_sequence + 1);
  record.unaccounted += batch.received_total - record.received - batch.count;
  record.released_sequence = batch.sequence;
  record.received = batch.received_total;
  record.received_bytes = batch.received_bytes_total;
  record.position = batch.position;
  ++record.batches;
  return record;
}

/// Completes the record that was begun. The slot may become free only afterwards.
inline void publish(LaneLedger& ledger) noexcept {
  const std::uint64_t flips = ledger.flips.load(std::memory_order_relaxed) + 1;
  hook(HookPoint::kSendFlip);
  ledger.flips.store(flips, std::memory_order_release);
  ledger.released.store(ledger.record[flips & 1].released_sequence, std::memory_order_release);
}

}  // namespace millrace
