// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "gpu-worker/resident/arguments.hpp"
#include "services/functions/staged_packets.cuh"
#include "shared/base/reason.hpp"

/// From a ticket to packets in shared memory: columns, then bytes. Everything comes over the bus
/// once, in pieces of 16 bytes, many of them under way at a time.

namespace millrace::resident {

inline constexpr std::uint32_t kPiece = 16;
inline constexpr std::uint32_t kPiecesAhead = 4;  ///< of a thread, under way together
inline constexpr std::uint32_t kHeaderRoom = kHeaderBytes + kPiece;  ///< for one, wherever it lies
static_assert(kHeaderRoom * kTicketPackets <= kStageBytes);

/// The columns of a ticket's packets.
struct TicketColumns {
  std::uint32_t count;  ///< packets of the ticket
  std::uint32_t classes[kTicketPackets];
  std::uint8_t passes[kTicketPackets];
};

template <typename T>
__device__ T column(const std::byte* slot, std::uint32_t offset, std::uint32_t packet) {
  return *(reinterpret_cast<const T*>(slot + offset) + packet);
}

/// Of one packet.
struct FrameColumns {
  std::uint32_t buffer, wire_length;
  std::uint16_t length, offset;
};
struct MarkColumns {
  std::uint32_t classes;
  std::uint8_t verdict;
};

__device__ inline FrameColumns frame_columns(const ColumnOffsets& offsets, const std::byte* slot,
                                             std::uint32_t at) {
  const std::uint16_t flags = reinterpret_cast<const SlotHeader*>(slot)->flags;
  FrameColumns frame{column<std::uint32_t>(slot, offsets.buffer, at), 0,
                     column<std::uint16_t>(slot, offsets.length, at),
                     column<std::uint16_t>(slot, offsets.offset, at)};
  frame.wire_length =
      (flags & kSlotCut) != 0 ? column<std::uint32_t>(slot, offsets.wire_length, at) : frame.length;
  return frame;
}
__device__ inline MarkColumns mark_columns(const ColumnOffsets& offsets, const std::byte* slot,
                                           std::uint32_t at) {
  return {column<std::uint32_t>(slot, offsets.classes, at),
          column<std::uint8_t>(slot, offsets.verdict, at)};
}

/// What was read is bounded before it is used: the slot may have gone on without us.
__device__ inline void put_frame(const Arguments& arguments, const FrameColumns& frame,
                                 std::uint32_t packet, StagedPackets& packets) {
  const std::uint32_t stride = arguments.buffer_stride;
  const std::uint32_t start = min(static_cast<std::uint32_t>(frame.offset), stride);
  packets.in_place[packet] = reinterpret_cast<const std::uint8_t*>(arguments.buffers) +
                             std::size_t{min(frame.buffer, arguments.buffer_count - 1)} * stride +
                             start;
  packets.length[packet] =
      static_cast<std::uint16_t>(min(static_cast<std::uint32_t>(frame.length), stride - start));
  packets.wire_length[packet] = frame.wire_length;
}
__device__ inline void put_marks(const MarkColumns& marks, std::uint32_t packet,
                                 TicketColumns& columns) {
  columns.classes[packet] = marks.classes;
  columns.passes[packet] = marks.verdict == static_cast<std::uint8_t>(Verdict::kPass);
}

/// One warp, one thread a packet. Everything is read before anything is stored: it is under way
/// together. With keys, frames are asked for only where the key says nothing; the others have no
/// bytes. True: this thread's packet has bytes to fetch. If none has, all of them are the group.
__device__ inline bool read_columns(const Arguments& arguments, const Ticket& ticket,
                                    TicketColumns& columns, StagedPackets& packets) {
  const std::uint32_t first = ticket.part << ticket.part_bits;
  const std::uint32_t count = min(1u << ticket.part_bits, ticket.count - first);
  const std::uint32_t packet = threadIdx.x, at = first + packet;
  if (packet == 0) {
    columns.count = count;
    packets.first = 0;
    packets.end = count;
  }
  if (packet >= count) return false;
  const ColumnOffsets& offsets = arguments.columns;
  const std::byte* slot = arguments.slots + std::size_t{ticket.slot} * offsets.slot_bytes;
  if (!ticket.keyed) {
    const FrameColumns frame = frame_columns(offsets, slot, at);
    const MarkColumns marks = mark_columns(offsets, slot, at);
    packets.key[packet] = {};
    put_frame(arguments, frame, packet, packets);
    put_marks(marks, packet, columns);
    return true;
  }
  const auto key = std::bit_cast<FlowKey>(column<uint4>(slot, offsets.key, at));
  const MarkColumns marks = mark_columns(offsets, slot, at);
  packets.key[packet] = key;
  put_marks(marks, packet, columns);
  packets.length[packet] = packets.staged[packet] = 0;
  if (key.protocol != 0) return false;
  put_frame(arguments, frame_columns(offsets, slot, at), packet, packets);
  return true;
}

/// Bytes of a packet that are fetched first.
__device__ inline std::uint32_t bytes_to_stage(const StagedPackets& packets, std::uint32_t packet,
                                               std::uint32_t frame_bytes) {
  return min(static_cast<std::uint32_t>(packets.length[packet]), frame_bytes);
}

/// One warp: places of the packets from packets.first on in the stage, as many as fit. Those that
/// do not pass take none. For headers there is room enough to give each a place of its own.
__device__ inline void place_packets(const TicketColumns& columns, std::uint32_t frame_bytes,
                                     StagedPackets& packets) {
  const std::uint32_t packet = threadIdx.x;
  const bool here = packet >= packets.first && packet < columns.count;
  const std::uint32_t bytes =
      here && columns.passes[packet] != 0 ? bytes_to_stage(packets, packet, frame_bytes) : 0;
  const std::uint32_t skew =
      bytes == 0 ? 0
                 : static_cast<std::uint32_t>(
                       reinterpret_cast<std::uintptr_t>(packets.in_place[packet]) % kPiece);
  const std::uint32_t room = (skew + bytes + kPiece - 1) / kPiece * kPiece;
  std::uint32_t total = 0;
  const std::uint32_t start =
      frame_bytes <= kHeaderBytes ? packet * kHeaderRoom : sum_before(room, total);
  const unsigned fits = __ballot_sync(kWholeWarp, here && start + room <= kStageBytes);
  const std::uint32_t end = packets.first + static_cast<std::uint32_t>(__popc(fits));
  if (here) {
    packets.at[packet] = start + skew;
    packets.staged[packet] = static_cast<std::uint16_t>(bytes);
  }
  __syncwarp();
  if (packet == 0) packets.end = end;
}

/// Copies one packet's pieces; `lane` of `lanes` threads.
__device__ inline void fetch(const uint4* from, uint4* to, std::uint32_t pieces, std::uint32_t lane,
                             std::uint32_t lanes) {
  for (std::uint32_t base = lane; base < pieces; base += lanes * kPiecesAhead) {
    uint4 piece[kPiecesAhead];
#pragma unroll
    for (std::uint32_t i = 0; i < kPiecesAhead; ++i) {
      if (base + i * lanes < pieces) piece[i] = from[base + i * lanes];
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kPiecesAhead; ++i) {
      if (base + i * lanes < pieces) to[base + i * lanes] = piece[i];
    }
  }
}

/// All threads: fetches what place_packets() made room for. Headers take few threads a packet,
/// whole frames a warp.
__device__ inline void fetch_packets(const StagedPackets& packets, std::uint32_t frame_bytes) {
  const std::uint32_t lanes = frame_bytes <= kHeaderBytes ? 8 : 32;
  for (std::uint32_t packet = packets.first + threadIdx.x / lanes; packet < packets.end;
       packet += blockDim.x / lanes) {
    const std::uint32_t bytes = packets.staged[packet];
    if (bytes == 0) continue;
    const std::uint32_t skew = packets.at[packet] % kPiece;
    fetch(reinterpret_cast<const uint4*>(packets.in_place[packet] - skew),
          reinterpret_cast<uint4*>(packets.stage + (packets.at[packet] - skew)),
          (skew + bytes + kPiece - 1) / kPiece, threadIdx.x % lanes, lanes);
  }
}

}  // namespace millrace::resident
