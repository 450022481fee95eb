// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "services/functions/function.hpp"

/// `record`: watches the order of numbered packets (README.md in this folder). A function with
/// state: it sees each lane's batches in sequence, so what it counts is what every stateful
/// function would have seen. Every packet passes; result words are 0.

namespace millrace {

inline constexpr std::uint32_t kRecordStreamsMax = 16;  ///< numbered streams; as kStreamCountMax

/// Entries of FunctionCounters::hits.
enum class RecordCounter : std::uint8_t {
  kPackets = 0,     ///< all packets seen
  kInversions = 1,  ///< numbered at or below the packet before it, of the same stream and lane
  kUnnumbered = 2,  ///< carry no number, or one of a stream from kRecordStreamsMax up
  kSkipped = 3,     ///< numbers left out between a packet and the one before it
};
inline constexpr std::size_t kRecordCounterCount = 4;

/// What a lane's state holds, in shared memory. All zero at the start.
///
/// | offset | size | field    | meaning                                                        |
/// |-------:|-----:|----------|----------------------------------------------------------------|
/// |      0 |   32 | counts   | as RecordCounter, of this lane                                 |
/// |     32 |  128 | expected | by stream: the number after the last one seen; 0: none yet     |
struct RecordState {
  std::uint64_t counts[kRecordCounterCount];
  std::uint64_t expected[kRecordStreamsMax];
};
static_assert(sizeof(RecordState) == 160 && alignof(RecordState) == 8);
static_assert(offsetof(RecordState, counts) == 0 && offsetof(RecordState, expected) == 32);
static_assert(std::has_unique_object_representations_v<RecordState>);

FunctionType record_type();

}  // namespace millrace
