// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/functions/device_function.hpp"
#include "shared/base/flow_key.hpp"

/// Packets as a function sees them on a GPU: some of a ticket's, their first bytes fetched over the
/// bus once and put side by side in shared memory. All threads of a block work on them together.

namespace millrace {

/// One frame, for the walks that a CPU takes too (shared/base/packet_walk.hpp): fetched bytes come
/// from shared memory, others over the bus.
struct StagedFrame {
  const std::uint8_t* staged;
  const std::uint8_t* in_place;
  std::size_t size;
  std::uint32_t staged_bytes;

  constexpr std::uint8_t u8(std::size_t at) const {
    return at < staged_bytes ? staged[at] : in_place[at];
  }
  constexpr std::uint16_t u16(std::size_t at) const {
    return static_cast<std::uint16_t>(u8(at) << 8 | u8(at + 1));
  }
};

/// The first bytes of a frame, all of them fetched: none is asked for twice where it lies.
struct StagedBytes {
  const std::uint8_t* staged;
  std::size_t size;  ///< of the frame

  constexpr std::uint8_t u8(std::size_t at) const {
#ifdef __CUDA_ARCH__
    __builtin_assume(__isShared(staged));
#endif
    return staged[at];
  }
  constexpr std::uint16_t u16(std::size_t at) const {
    return static_cast<std::uint16_t>(u8(at) << 8 | u8(at + 1));
  }
  constexpr std::uint16_t le16(std::size_t at) const {
    return static_cast<std::uint16_t>(u8(at) | u8(at + 1) << 8);
  }
  constexpr std::uint32_t le32(std::size_t at) const {
    return le16(at) | std::uint32_t{le16(at + 2)} << 16;
  }
};

/// In shared memory. Packets [first, end) of the ticket are fetched; only those with `active` take
/// part, and only their words are written.
struct StagedPackets {
  std::uint32_t first, end;
  std::uint8_t* stage;                   ///< kStageBytes + kStageSlack, aligned to 16
  std::uint32_t at[kTicketPackets];      ///< of the frame's first byte in `stage`
  std::uint16_t staged[kTicketPackets];  ///< bytes fetched
  std::uint16_t length[kTicketPackets];  ///< bytes of the frame
  std::uint32_t wire_length[kTicketPackets];
  const std::uint8_t* in_place[kTicketPackets];
  FlowKey key[kTicketPackets];  ///< protocol 0: not known, look into the frame; else no frame here
  std::uint8_t active[kTicketPackets];

  __device__ StagedFrame frame(std::uint32_t packet) const {
    return {stage + at[packet], in_place[packet], length[packet], staged[packet]};
  }
  /// Of the frame's bytes only the first staged[packet] may be asked for.
  __device__ StagedBytes head(std::uint32_t packet) const {
    return {stage + at[packet], length[packet]};
  }
};

}  // namespace millrace
