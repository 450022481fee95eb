// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The limits of a topology, in one place. All tables in shared memory are sized by them; the
/// configuration is refused when it asks for more, so nothing behind them checks again.

namespace millrace {

inline constexpr std::size_t kCacheLine =
    64;  ///< bytes; ours, because the standard's may change with the compiler
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;  ///< bytes

inline constexpr std::uint32_t kBatchCapacityDefault = 64;  ///< packets a slot holds
inline constexpr std::uint32_t kBatchCapacityMax = 256;
inline constexpr std::uint32_t kBurstMax = 256;  ///< packets taken from a port in one poll
inline constexpr std::uint32_t kBurstPerLane =
    32;  ///< packets a lane adds to one poll, which takes a full batch at least
inline constexpr std::uint32_t kSlotCountMax =
    16384;  ///< slots of a topology; a descriptor has 16 bits
inline constexpr std::uint32_t kBufferCountMax = 1u << 20;  ///< of all streams
inline constexpr std::uint32_t kStreamCountMax = 16;
inline constexpr std::uint32_t kLaneCountMax = 128;  ///< lanes of all paths together
inline constexpr std::uint32_t kPortCountMax = 16;
inline constexpr std::uint32_t kPathCountMax = 8;
inline constexpr std::uint32_t kGroupCountMax = 8;
inline constexpr std::uint32_t kStageCountMax = 32;
inline constexpr std::uint32_t kFunctionCountMax = 16;  ///< that a file names
inline constexpr std::uint32_t kFunctionPlaceMax =
    32;  ///< names that functions of a running topology have had; each keeps its number
inline constexpr std::uint32_t kSpareCounterCount =
    4096;  ///< FunctionCounters of functions that come while it runs
inline constexpr std::uint32_t kCounterMaxOfComer = 512;  ///< of these, of one function
inline constexpr std::uint32_t kClassCountMax = 32;       ///< bits of a class mask
inline constexpr std::uint32_t kStageFunctionCountMax =
    8;  ///< functions that run back to back in one stage
inline constexpr std::uint32_t kFilterInstructionMax = 1024;  ///< of a path's `match`
inline constexpr std::uint32_t kTranslationEntryMax = 4096;   ///< of each list of a PlanTranslation
inline constexpr std::uint32_t kCrashLimitMax = 1000;  ///< deaths that may take a function out
inline constexpr std::uint32_t kActorCountMax = 128;
inline constexpr std::uint32_t kEventFilesMax = 99;   ///< renamed files of events that are kept
inline constexpr std::uint32_t kCoreCountMax = 1024;  ///< of a host; as many as cpu_set_t has
inline constexpr std::uint32_t kNodeCountMax = 64;    ///< NUMA nodes with cores
inline constexpr std::uint32_t kResultWordBytes =
    4;  ///< a function's result: one 32-bit word a packet

inline constexpr std::uint32_t kSideBuffersDefault = 256;  ///< of an egress's own pool
inline constexpr std::uint32_t kNeighbourCountMin = 64;    ///< entries of the table of neighbours
inline constexpr std::uint32_t kNeighbourCountDefault = 1024;
inline constexpr std::uint32_t kNeighbourCountMax = 65536;

inline constexpr std::uint32_t kMtuMin = 68;    ///< of a port; every IPv4 link carries it (RFC 791)
inline constexpr std::uint32_t kMtuMax = 9000;  ///< of a port; what Ethernet calls a jumbo frame

inline constexpr std::uint32_t kBufferHeadroom = 128;      ///< bytes in front of a received packet
inline constexpr std::uint32_t kMbufBytes = 128;           ///< a DPDK driver's header of a buffer
inline constexpr std::uint32_t kDescriptorsDefault = 512;  ///< of a DPDK port's queue
inline constexpr std::uint32_t kBufferStrideDefault =
    2176;  ///< bytes; not a power of two (cache sets)

/// Stage number of the egress: every path ends there.
inline constexpr std::uint8_t kEgressStage = 255;

}  // namespace millrace
