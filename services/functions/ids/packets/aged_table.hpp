// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {

/// What is kept under a tuple, beside the line that the table needs.
struct AgedEntry {
  FlowTuple tuple;
  std::uint32_t link;          ///< the next one of its bucket, or free one
  std::uint32_t older, newer;  ///< by when they were seen last
  std::uint32_t seen_s;        ///< when it was seen last
  std::uint8_t padding[8];
  std::byte own[kCacheLine];  ///< the caller's; zero at the begin
};
static_assert(sizeof(AgedEntry) == 2 * kCacheLine && offsetof(AgedEntry, own) == kCacheLine);
static_assert(std::is_trivially_copyable_v<AgedEntry>);

/// Entries in a lane's state, found by a tuple, and in the order in which they were seen last. What
/// a batch has changed is taken back when its worker dies (LaneUndoLog). A cheap view; one thread,
/// which changes the lane's state at that moment. Pointers are good until the entry ends.
///
/// Memory, zero at the start: a head of one line; buckets of 4 bytes, one or two an entry; entries
/// of two lines. References are numbers + 1; 0: none.
class AgedTable {
 public:
  /// Lines of the state that one call changes at most.
  static constexpr std::uint32_t kLinesOfBegin = 6, kLinesOfEnd = 6, kLinesOfSee = 6;

  static std::uint64_t bytes_for(std::uint32_t entries) noexcept;
  /// `at`: where it begins in the state, on a cache line. `entries`: 1 or more. `secret`: for a
  /// table that has none yet, and keeps it.
  AgedTable(const LaneState& state, std::uint64_t at, std::uint32_t entries,
            const std::array<std::uint64_t, 2>& secret) noexcept;

  /// Null: there is none.
  AgedEntry* find(const FlowTuple& tuple) const noexcept;
  /// One that there is not, seen at `now_s`. Null: the table is full.
  AgedEntry* begin(const FlowTuple& tuple, std::uint32_t now_s) noexcept;
  void end(AgedEntry& entry) noexcept;
  /// It is seen at `now_s`, which is no earlier than that of any call before.
  void see(AgedEntry& entry, std::uint32_t now_s) noexcept;
  /// That which was seen the longest time ago; null: there is none.
  AgedEntry* oldest() const noexcept;
  /// To write `own`; one line.
  void change_own(AgedEntry& entry) noexcept;

  std::uint32_t count() const noexcept;  ///< that there are
  /// A hash of `bytes` with the table's secret.
  std::uint64_t hash(std::span<const std::byte> bytes) const noexcept;

 private:
  struct Head;
  Head& head() const noexcept;
  Head& change_head() noexcept;
  std::uint64_t offset_of(const void* place) const noexcept;
  void set(std::uint32_t& word, std::uint32_t value) noexcept;
  AgedEntry* entry(std::uint32_t reference) const noexcept;
  std::uint32_t reference_of(const AgedEntry& entry) const noexcept;
  std::uint32_t* reference_to(const FlowTuple& tuple) const noexcept;
  void put_newest(std::uint32_t reference) noexcept;
  void take_out(AgedEntry& entry) noexcept;

  LaneState state_;
  std::uint64_t at_;
  std::uint32_t entries_;
};

}  // namespace millrace
