// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_records.hpp"

#include <algorithm>
#include <bit>

#include "shared/base/check.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t records_at(std::uint32_t records) noexcept {
  const std::uint64_t bytes = kCacheLine + std::uint64_t{std::bit_ceil(records)} * 4;
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace

struct FlowRecords::Head {
  std::uint64_t secret[2];  ///< all zero: nothing is laid out so far
  std::uint64_t next_id;
  std::uint32_t count;  ///< that there are
  std::uint32_t fresh;  ///< numbers from this on have never been used
  std::uint32_t free;   ///< they hang by `link`
  std::uint32_t padding[7];
};

std::uint64_t FlowRecords::bytes_for(std::uint32_t records) noexcept {
  return records_at(records) + std::uint64_t{records} * sizeof(FlowRecord);
}

FlowRecords::FlowRecords(const LaneState& state, std::uint64_t at, std::uint32_t records,
                         const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state), at_(at), records_(records) {
  static_assert(sizeof(Head) == kCacheLine);
  MILLRACE_CHECK(records >= 1 && at % kCacheLine == 0 &&
                 state.bytes.size() >= at + bytes_for(records));
  if ((head().secret[0] | head().secret[1]) != 0) return;
  Head& head = change_head();
  head.secret[0] = secret[0];
  head.secret[1] = secret[1];
}

FlowRecords::Head& FlowRecords::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data() + at_);
}

FlowRecords::Head& FlowRecords::change_head() noexcept {
  state_.change(at_, sizeof(Head));
  return head();
}

std::uint64_t FlowRecords::offset_of(const void* place) const noexcept {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - state_.bytes.data());
}

void FlowRecords::set(std::uint32_t& word, std::uint32_t value) noexcept {
  state_.change(offset_of(&word), sizeof word);
  word = value;
}

FlowRecord* FlowRecords::record(std::uint32_t reference) const noexcept {
  MILLRACE_CHECK(reference >= 1 && reference <= records_);
  std::byte* const records = state_.bytes.data() + at_ + records_at(records_);
  return reinterpret_cast<FlowRecord*>(records) + (reference - 1);
}

/// The word that refers to it, or 0 at the end of its bucket.
std::uint32_t* FlowRecords::reference_to(const FlowTuple& tuple) const noexcept {
  const std::uint64_t hash =
      siphash13(std::as_bytes(std::span(&tuple, 1)), {head().secret[0], head().secret[1]});
  auto* reference = reinterpret_cast<std::uint32_t*>(state_.bytes.data() + at_ + kCacheLine) +
                    (hash & (std::bit_ceil(records_) - 1));
  while (*reference != 0 && record(*reference)->tuple != tuple) {
    reference = &record(*reference)->link;
  }
  return reference;
}

FlowRecord* FlowRecords::find(const FlowTuple& tuple) const noexcept {
  const std::uint32_t reference = *reference_to(tuple);
  return reference == 0 ? nullptr : record(reference);
}

FlowRecord* FlowRecords::begin(const FlowTuple& tuple) noexcept {
  if (head().count == records_) return nullptr;
  Head& head = change_head();
  ++head.count;
  const bool is_fresh = head.free == 0;
  const std::uint32_t reference = is_fresh ? ++head.fresh : head.free;
  FlowRecord* const begun = record(reference);
  if (!is_fresh) head.free = begun->link;
  std::uint32_t* const word = reference_to(tuple);  // of the last one of the bucket, or the bucket
  state_.change(offset_of(begun), sizeof(FlowRecord));
  *begun = FlowRecord{};
  begun->tuple = tuple;
  begun->id = ++head.next_id;
  set(*word, reference);
  return begun;
}

void FlowRecords::end(const FlowTuple& tuple) noexcept {
  std::uint32_t* const word = reference_to(tuple);
  if (*word == 0) return;
  const std::uint32_t reference = *word;
  FlowRecord& ended = *record(reference);
  set(*word, ended.link);
  Head& head = change_head();
  set(ended.link, head.free);
  head.free = reference;
  --head.count;
}

void FlowRecords::change_fate(FlowRecord& record) noexcept {
  state_.change(offset_of(&record), kCacheLine);
}

void FlowRecords::change_parser(FlowRecord& record) noexcept {
  state_.change(offset_of(&record.settled), kCacheLine);
}

void FlowRecords::change_flowbits(FlowRecord& record) noexcept {
  state_.change(offset_of(&record.flowbits), sizeof record.flowbits);
}

void FlowRecords::set_names(FlowRecord& record, std::uint32_t names) noexcept {
  if (record.names == names) return;
  change_fate(record);
  record.names = names;
  change_flowbits(record);
  std::ranges::fill(record.flowbits, 0);
}

std::uint32_t FlowRecords::count() const noexcept { return head().count; }

}  // namespace millrace
