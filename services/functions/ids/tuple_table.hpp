// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/flow/same_tuple.hpp"
#include "services/functions/function.hpp"
#include "shared/base/check.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {

/// Entries in a lane's state, found by a tuple. `Entry` has `tuple` and `link`, which are the
/// table's; `Own` is what the caller has in the table's head. A cheap view; one thread, which
/// changes the lane's state at that moment. Pointers are good until the entry ends.
///
/// Memory, zero at the start: a head of one line; buckets of 4 bytes, one or two an entry; entries.
/// References are numbers + 1; 0: none.
template <typename Entry, typename Own>
class TupleTable {
 public:
  static_assert(std::is_trivially_copyable_v<Entry> && sizeof(Entry) % kCacheLine == 0);
  /// Lines of the state that one call changes at most.
  static constexpr std::uint32_t kLinesOfBegin = 2 + sizeof(Entry) / kCacheLine, kLinesOfEnd = 3;

  static constexpr std::uint64_t bytes_for(std::uint32_t entries) noexcept {
    return entries_at(entries) + std::uint64_t{entries} * sizeof(Entry);
  }
  /// `at`: where it begins in the state, on a cache line. `entries`: 1 or more. `secret`: for a
  /// table that has none yet, and keeps it.
  TupleTable(const LaneState& state, std::uint64_t at, std::uint32_t entries,
             const std::array<std::uint64_t, 2>& secret) noexcept
      : state_(state), at_(at), entries_(entries) {
    static_assert(sizeof(Head) == kCacheLine);
    MILLRACE_CHECK(entries >= 1 && at % kCacheLine == 0 &&
                   state.bytes.size() >= at + bytes_for(entries));
    if ((head().secret[0] | head().secret[1]) != 0) return;
    Head& head = state_.change(this->head());
    head.secret[0] = secret[0];
    head.secret[1] = secret[1];
  }

  /// Null: there is none.
  Entry* find(const FlowTuple& tuple) const noexcept {
    const std::uint32_t reference = *reference_to(tuple);
    return reference == 0 ? nullptr : &entry(reference);
  }
  /// One that there is not; zero but for its tuple. Null: the table is full.
  Entry* begin(const FlowTuple& tuple) noexcept {
    if (head().count == entries_) return nullptr;
    Head& head = state_.change(this->head());
    ++head.count;
    const bool is_fresh = head.free == 0;
    const std::uint32_t reference = is_fresh ? ++head.fresh : head.free;
    Entry& begun = entry(reference);
    if (!is_fresh) head.free = begun.link;
    std::uint32_t* const word = reference_to(tuple);  // of the last of the bucket, or the bucket
    state_.change(begun) = Entry{};
    begun.tuple = tuple;
    state_.change(*word) = reference;
    return &begun;
  }
  /// Nothing if there is none.
  void end(const FlowTuple& tuple) noexcept {
    std::uint32_t* const word = reference_to(tuple);
    if (*word != 0) take_out(*word);
  }
  /// One that there is.
  void end(Entry& ended) noexcept {
    std::uint32_t* const word = reference_to(ended.tuple);
    MILLRACE_CHECK(*word == reference_of(ended));
    take_out(*word);
  }

  Entry& entry(std::uint32_t reference) const noexcept {
    MILLRACE_CHECK(reference >= 1 && reference <= entries_);
    std::byte* const entries = state_.bytes.data() + at_ + entries_at(entries_);
    return reinterpret_cast<Entry*>(entries)[reference - 1];
  }
  std::uint32_t reference_of(const Entry& entry) const noexcept {
    const std::uint64_t behind = state_.offset_of(&entry) - at_ - entries_at(entries_);
    return static_cast<std::uint32_t>(behind / sizeof(Entry)) + 1;
  }
  std::uint32_t count() const noexcept { return head().count; }  ///< that there are
  /// To be written behind begin(), which has changed the head's line, or behind change_own().
  Own& own() const noexcept { return head().own; }
  Own& change_own() noexcept { return state_.change(head()).own; }
  /// A hash with the table's secret.
  std::uint64_t hash(std::span<const std::byte> bytes) const noexcept {
    return siphash13(bytes, {head().secret[0], head().secret[1]});
  }

 private:
  struct alignas(kCacheLine) Head {
    std::uint64_t secret[2];  ///< all zero: nothing is laid out so far
    Own own;
    std::uint32_t count;  ///< that there are
    std::uint32_t fresh;  ///< numbers from this on have never been used
    std::uint32_t free;   ///< they hang by `link`
  };

  static constexpr std::uint64_t entries_at(std::uint32_t entries) noexcept {
    const std::uint64_t bytes = kCacheLine + std::uint64_t{std::bit_ceil(entries)} * 4;
    return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  Head& head() const noexcept { return *reinterpret_cast<Head*>(state_.bytes.data() + at_); }
  /// The word that refers to it, or 0 at the end of its bucket.
  std::uint32_t* reference_to(const FlowTuple& tuple) const noexcept {
    auto* reference = reinterpret_cast<std::uint32_t*>(state_.bytes.data() + at_ + kCacheLine) +
                      (hash(std::as_bytes(std::span(&tuple, 1))) & (std::bit_ceil(entries_) - 1));
    while (*reference != 0 && !is_same_tuple(entry(*reference).tuple, tuple))
      reference = &entry(*reference).link;
    return reference;
  }
  /// That to which the word refers.
  void take_out(std::uint32_t& word) noexcept {
    const std::uint32_t reference = word;
    Entry& ended = entry(reference);
    state_.change(word) = ended.link;
    Head& head = state_.change(this->head());
    state_.change(ended.link) = head.free;
    head.free = reference;
    --head.count;
  }

  LaneState state_;
  std::uint64_t at_;
  std::uint32_t entries_;
};

}  // namespace millrace
