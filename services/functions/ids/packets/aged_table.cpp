// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/aged_table.hpp"

namespace millrace {

AgedEntry* AgedTable::oldest() const noexcept {
  const std::uint32_t oldest = table_.own().oldest;
  return oldest == 0 ? nullptr : &table_.entry(oldest);
}

void AgedTable::put_newest(AgedEntry& newest) noexcept {
  Own& own = table_.change_own();
  const std::uint32_t reference = table_.reference_of(newest);
  newest.older = own.newest;
  newest.newer = 0;
  if (own.newest == 0) own.oldest = reference;
  if (own.newest != 0) state_.change(table_.entry(own.newest).newer) = reference;
  own.newest = reference;
}

/// Out of the order.
void AgedTable::take_out(AgedEntry& entry) noexcept {
  Own& own = table_.change_own();
  if (entry.older == 0) own.oldest = entry.newer;
  if (entry.older != 0) state_.change(table_.entry(entry.older).newer) = entry.newer;
  if (entry.newer == 0) own.newest = entry.older;
  if (entry.newer != 0) state_.change(table_.entry(entry.newer).older) = entry.older;
}

AgedEntry* AgedTable::begin(const FlowTuple& tuple, std::uint32_t now_s) noexcept {
  AgedEntry* const begun = table_.begin(tuple);
  if (begun == nullptr) return nullptr;
  begun->seen_s = now_s;
  put_newest(*begun);
  return begun;
}

void AgedTable::end(AgedEntry& ended) noexcept {
  take_out(ended);
  table_.end(ended);
}

void AgedTable::see(AgedEntry& seen, std::uint32_t now_s) noexcept {
  if (seen.seen_s == now_s) return;
  state_.change(state_.offset_of(&seen), kCacheLine);
  seen.seen_s = now_s;
  if (seen.newer == 0) return;
  take_out(seen);
  put_newest(seen);
}

}  // namespace millrace
