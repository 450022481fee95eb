// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "services/functions/ids/tuple_table.hpp"
#include "shared/base/limits.hpp"

/// What `ids` knows of each flow of a lane, beside its bytes: in the lane's state, behind the
/// streams: a TupleTable of records of three lines.

namespace millrace {

/// What rules have said of the whole flow.
enum class FlowFate : std::uint8_t {
  kNone,
  kPassed,   ///< it is not looked at
  kDropped,  ///< none of its packets passes
};

struct FlowRecord {
  /// What its parser was in the middle of was not kept.
  static constexpr std::uint8_t kLostParser = 2;

  FlowTuple tuple;      ///< of the flow's direction 0
  std::uint32_t link;   ///< the next one of its bucket, or free one
  std::uint32_t names;  ///< of the flowbits: what their numbers mean. Others have other numbers
  std::uint64_t id;     ///< of this record alone in its lane
  FlowFate fate;
  std::uint8_t padding[7];
  // The second line: where a parser of this flow begins that knows nothing of it.
  std::uint64_t settled[2];    ///< by direction: place in the stream
  std::uint64_t transactions;  ///< that lie in front of it
  std::uint8_t protocol;       ///< AppProtocol
  std::uint8_t is_over;        ///< 1: no parser reads on; kLostParser: none can
  std::uint8_t padding_behind[38];
  // The third.
  std::uint64_t flowbits[kFlowbitsMax / 64];
};
static_assert(sizeof(FlowRecord) == 3 * kCacheLine);
static_assert(offsetof(FlowRecord, settled) == kCacheLine);
static_assert(offsetof(FlowRecord, flowbits) == 2 * kCacheLine);
static_assert(std::is_trivially_copyable_v<FlowRecord>);

/// A cheap view. One thread, which changes the lane's state at that moment. Pointers are good until
/// the record ends.
class FlowRecords {
  struct Own {
    std::uint64_t next_id;
  };
  using Table = TupleTable<FlowRecord, Own>;

 public:
  /// Lines of the state that one call changes at most.
  static constexpr std::uint32_t kLinesOfBegin = Table::kLinesOfBegin,
                                 kLinesOfEnd = Table::kLinesOfEnd;

  static std::uint64_t bytes_for(std::uint32_t records) noexcept {
    return Table::bytes_for(records);
  }
  /// As TupleTable.
  FlowRecords(const LaneState& state, std::uint64_t at, std::uint32_t records,
              const std::array<std::uint64_t, 2>& secret) noexcept
      : state_(state), table_(state, at, records, secret) {}

  /// Null: there is none.
  FlowRecord* find(const FlowTuple& tuple) const noexcept { return table_.find(tuple); }
  /// One that there is not. Null: there is no room.
  FlowRecord* begin(const FlowTuple& tuple) noexcept;
  /// Nothing if there is none.
  void end(const FlowTuple& tuple) noexcept { table_.end(tuple); }

  // To be written; one line each.
  void change_fate(FlowRecord& record) noexcept;
  void change_parser(FlowRecord& record) noexcept;
  void change_flowbits(FlowRecord& record) noexcept;
  /// Two lines, where others had been meant.
  void set_names(FlowRecord& record, std::uint32_t names) noexcept;

  std::uint32_t count() const noexcept { return table_.count(); }  ///< that there are

 private:
  LaneState state_;
  Table table_;
};

}  // namespace millrace
