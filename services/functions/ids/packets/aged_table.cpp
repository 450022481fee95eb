// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/aged_table.hpp"

#include <bit>

#include "shared/base/check.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t entries_at(std::uint32_t entries) noexcept {
  const std::uint64_t bytes = kCacheLine + std::uint64_t{std::bit_ceil(entries)} * 4;
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace

struct AgedTable::Head {
  std::uint64_t secret[2];  ///< all zero: nothing is laid out so far
  std::uint32_t count;      ///< that there are
  std::uint32_t fresh;      ///< numbers from this on have never been used
  std::uint32_t free;       ///< they hang by `link`
  std::uint32_t oldest, newest;
  std::uint32_t padding[7];
};

std::uint64_t AgedTable::bytes_for(std::uint32_t entries) noexcept {
  return entries_at(entries) + std::uint64_t{entries} * sizeof(AgedEntry);
}

AgedTable::AgedTable(const LaneState& state, std::uint64_t at, std::uint32_t entries,
                     const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state), at_(at), entries_(entries) {
  static_assert(sizeof(Head) == kCacheLine);
  MILLRACE_CHECK(entries >= 1 && at % kCacheLine == 0 &&
                 state.bytes.size() >= at + bytes_for(entries));
  if ((head().secret[0] | head().secret[1]) != 0) return;
  Head& head = change_head();
  head.secret[0] = secret[0];
  head.secret[1] = secret[1];
}

AgedTable::Head& AgedTable::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data() + at_);
}

AgedTable::Head& AgedTable::change_head() noexcept {
  state_.change(at_, sizeof(Head));
  return head();
}

std::uint64_t AgedTable::offset_of(const void* place) const noexcept {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - state_.bytes.data());
}

void AgedTable::set(std::uint32_t& word, std::uint32_t value) noexcept {
  state_.change(offset_of(&word), sizeof word);
  word = value;
}

AgedEntry* AgedTable::entry(std::uint32_t reference) const noexcept {
  MILLRACE_CHECK(reference >= 1 && reference <= entries_);
  std::byte* const entries = state_.bytes.data() + at_ + entries_at(entries_);
  return reinterpret_cast<AgedEntry*>(entries) + (reference - 1);
}

std::uint32_t AgedTable::reference_of(const AgedEntry& entry) const noexcept {
  const std::uint64_t behind = offset_of(&entry) - at_ - entries_at(entries_);
  return static_cast<std::uint32_t>(behind / sizeof(AgedEntry)) + 1;
}

std::uint64_t AgedTable::hash(std::span<const std::byte> bytes) const noexcept {
  return siphash13(bytes, {head().secret[0], head().secret[1]});
}

/// The word that refers to it, or 0 at the end of its bucket.
std::uint32_t* AgedTable::reference_to(const FlowTuple& tuple) const noexcept {
  auto* reference = reinterpret_cast<std::uint32_t*>(state_.bytes.data() + at_ + kCacheLine) +
                    (hash(std::as_bytes(std::span(&tuple, 1))) & (std::bit_ceil(entries_) - 1));
  while (*reference != 0 && entry(*reference)->tuple != tuple) reference = &entry(*reference)->link;
  return reference;
}

AgedEntry* AgedTable::find(const FlowTuple& tuple) const noexcept {
  const std::uint32_t reference = *reference_to(tuple);
  return reference == 0 ? nullptr : entry(reference);
}

AgedEntry* AgedTable::oldest() const noexcept {
  return head().oldest == 0 ? nullptr : entry(head().oldest);
}

void AgedTable::put_newest(std::uint32_t reference) noexcept {
  Head& head = change_head();
  AgedEntry& newest = *entry(reference);
  newest.older = head.newest;
  newest.newer = 0;
  if (head.newest == 0) head.oldest = reference;
  if (head.newest != 0) set(entry(head.newest)->newer, reference);
  head.newest = reference;
}

/// Out of the order.
void AgedTable::take_out(AgedEntry& entry_out) noexcept {
  Head& head = change_head();
  if (entry_out.older == 0) head.oldest = entry_out.newer;
  if (entry_out.older != 0) set(entry(entry_out.older)->newer, entry_out.newer);
  if (entry_out.newer == 0) head.newest = entry_out.older;
  if (entry_out.newer != 0) set(entry(entry_out.newer)->older, entry_out.older);
}

AgedEntry* AgedTable::begin(const FlowTuple& tuple, std::uint32_t now_s) noexcept {
  if (head().count == entries_) return nullptr;
  Head& head = change_head();
  ++head.count;
  const bool is_fresh = head.free == 0;
  const std::uint32_t reference = is_fresh ? ++head.fresh : head.free;
  AgedEntry* const begun = entry(reference);
  if (!is_fresh) head.free = begun->link;
  std::uint32_t* const word = reference_to(tuple);  // of the last one of the bucket, or the bucket
  state_.change(offset_of(begun), sizeof(AgedEntry));
  *begun = AgedEntry{};
  begun->tuple = tuple;
  begun->seen_s = now_s;
  set(*word, reference);
  put_newest(reference);
  return begun;
}

void AgedTable::end(AgedEntry& ended) noexcept {
  std::uint32_t* const word = reference_to(ended.tuple);
  const std::uint32_t reference = reference_of(ended);
  MILLRACE_CHECK(*word == reference);
  take_out(ended);
  set(*word, ended.link);
  Head& head = change_head();
  set(ended.link, head.free);
  head.free = reference;
  --head.count;
}

void AgedTable::see(AgedEntry& seen, std::uint32_t now_s) noexcept {
  if (seen.seen_s == now_s) return;
  state_.change(offset_of(&seen), kCacheLine);
  seen.seen_s = now_s;
  if (seen.newer == 0) return;
  take_out(seen);
  put_newest(reference_of(seen));
}

void AgedTable::change_own(AgedEntry& entry) noexcept {
  state_.change(offset_of(&entry.own), sizeof entry.own);
}

std::uint32_t AgedTable::count() const noexcept { return head().count; }

}  // namespace millrace
