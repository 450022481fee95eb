// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/driver/dpdk_tx.hpp"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>
#include <utility>

#include "shared/base/check.hpp"
namespace millrace {
namespace {

std::uint32_t send_queue_of(const Plan& plan, std::uint32_t port, std::uint32_t egress) {
  const std::vector<SendHeaders> all = send_headers(plan);
  const auto found = std::find_if(all.begin(), all.end(), [&](const SendHeaders& queue) {
    return queue.port == port && queue.egress == egress;
  });
  MILLRACE_CHECK(found != all.end());
  return static_cast<std::uint32_t>(found - all.begin());
}

}  // namespace

DpdkTx::DpdkTx(DpdkProcess& process, const ActorContext& context, DpdkQueue queue,
               std::uint32_t plan_port)
    : process_(process),
      number_(send_queue_of(*context.plan, plan_port, queue.queue)),
      headers_(process.all_headers(number_)),
      area_(context.segment.buffers()),
      queue_(queue),
      pause_(context, plan_port) {}

/// The process that stops the port has waited until this was called.
void DpdkTx::roster_moved() noexcept {
  queue_.look_at_link();
  emptied_ |= pause_.now();
}

std::uint32_t DpdkTx::send(std::span<const TxPacket> packets) noexcept {
  if (pause_.now()) return 0;
  if (std::exchange(emptied_, false)) [[unlikely]]
    process_.all_headers(number_);
  std::array<rte_mbuf*, kBatchCapacityMax> burst;
  const auto count =
      static_cast<std::uint16_t>(std::min({packets.size(), burst.size(), headers_.size()}));
  for (std::uint16_t i = 0; i < count; ++i) {
    const TxPacket& packet = packets[i];
    rte_mbuf* mbuf = headers_[headers_.size() - 1 - i];
    std::byte* const start = area_.at(packet.buffer);
    Mbufs::point(mbuf, packet.buffer, start);
    mbuf->data_off = static_cast<std::uint16_t>(packet.bytes.data() - start);
    mbuf->data_len = static_cast<std::uint16_t>(packet.bytes.size());
    mbuf->pkt_len = static_cast<std::uint32_t>(packet.bytes.size());
    mbuf->ol_flags = 0;
    burst[i] = mbuf;
  }
  headers_.resize(headers_.size() - count);
  const std::uint16_t sent = rte_eth_tx_burst(queue_.port, queue_.queue, burst.data(), count);
  // The driver has freed others meanwhile.
  headers_.insert(headers_.end(), burst.begin() + sent, burst.begin() + count);
  if (sent == 0) queue_.look_at_link();
  return sent;
}

void DpdkTx::flush() noexcept {
  queue_.look_at_link();
  if (!pause_.now()) rte_eth_tx_done_cleanup(queue_.port, queue_.queue, 0);
}

}  // namespace millrace
