// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "services/functions/ids/tuple_table.hpp"
#include "shared/base/limits.hpp"

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
/// which changes the lane's state at that moment. Pointers are good until the entry ends. Memory:
/// as TupleTable.
class AgedTable {
  struct Own {
    std::uint32_t oldest, newest;
  };
  using Table = TupleTable<AgedEntry, Own>;
  static constexpr std::uint32_t kLinesOfPut = 2, kLinesOfTake = 3;  // in the order, and out of it

 public:
  /// Lines of the state that one call changes at most.
  static constexpr std::uint32_t kLinesOfBegin = Table::kLinesOfBegin + kLinesOfPut,
                                 kLinesOfEnd = Table::kLinesOfEnd + kLinesOfTake,
                                 kLinesOfSee = 1 + kLinesOfTake + kLinesOfPut;

  static std::uint64_t bytes_for(std::uint32_t entries) noexcept {
    return Table::bytes_for(entries);
  }
  /// As TupleTable.
  AgedTable(const LaneState& state, std::uint64_t at, std::uint32_t entries,
            const std::array<std::uint64_t, 2>& secret) noexcept
      : state_(state), table_(state, at, entries, secret) {}

  /// Null: there is none.
  AgedEntry* find(const FlowTuple& tuple) const noexcept { return table_.find(tuple); }
  /// One that there is not, seen at `now_s`. Null: the table is full.
  AgedEntry* begin(const FlowTuple& tuple, std::uint32_t now_s) noexcept;
  void end(AgedEntry& entry) noexcept;
  /// It is seen at `now_s`, which is no earlier than that of any call before.
  void see(AgedEntry& entry, std::uint32_t now_s) noexcept;
  /// That which was seen the longest time ago; null: there is none.
  AgedEntry* oldest() const noexcept;
  /// To write `own`; one line.
  void change_own(AgedEntry& entry) noexcept { state_.change(entry.own); }

  std::uint32_t count() const noexcept { return table_.count(); }  ///< that there are
  /// A hash of `bytes` with the table's secret.
  std::uint64_t hash(std::span<const std::byte> bytes) const noexcept { return table_.hash(bytes); }

 private:
  void put_newest(AgedEntry& newest) noexcept;
  void take_out(AgedEntry& entry) noexcept;

  LaneState state_;
  Table table_;
};

}  // namespace millrace
