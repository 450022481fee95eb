// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/driver/dpdk_tx.hpp"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>

namespace millrace {

std::uint32_t DpdkTx::send(std::span<const TxPacket> packets) noexcept {
  if (pause_.now()) return 0;
  std::array<rte_mbuf*, kBatchCapacityMax> burst;
  const auto count = static_cast<std::uint16_t>(std::min(packets.size(), burst.size()));
  for (std::uint16_t i = 0; i < count; ++i) {
    const TxPacket& packet = packets[i];
    rte_mbuf* mbuf = process_.mbufs().at(packet.buffer);
    mbuf->data_off = static_cast<std::uint16_t>(packet.bytes.data() - area_.at(packet.buffer));
    mbuf->data_len = static_cast<std::uint16_t>(packet.bytes.size());
    mbuf->pkt_len = static_cast<std::uint32_t>(packet.bytes.size());
    mbuf->ol_flags = 0;
    burst[i] = mbuf;
  }
  const std::uint16_t sent = rte_eth_tx_burst(queue_.port, queue_.queue, burst.data(), count);
  if (sent == 0) queue_.look_at_link();
  return sent;
}

void DpdkTx::flush() noexcept {
  queue_.look_at_link();
  if (!pause_.now()) rte_eth_tx_done_cleanup(queue_.port, queue_.queue, 0);
}

}  // namespace millrace
