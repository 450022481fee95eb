// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/odd_packets.hpp"

namespace millrace {

std::uint32_t drop_oversize(const Batch& batch, std::uint32_t at,
                            std::span<const RxPacket> packets) noexcept {
  std::uint32_t count = 0;
  for (const RxPacket& packet : packets) {
    if (packet.oversize) {
      batch.drop(at, packet.malformed ? Reason::kMalformed : Reason::kOversize);
      ++count;
    }
    ++at;
  }
  return count;
}

void fill_wire_lengths(const Batch& batch, std::uint32_t at,
                       std::span<const RxPacket> packets) noexcept {
  if (!batch.has_cut()) batch.begin_cut(at);
  for (const RxPacket& packet : packets) batch.wire_lengths[at++] = packet.wire_length;
}

}  // namespace millrace
