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
      pause_(context, plan_port) {
  process.open_send_pool(number_);
}

/// The process that stops the port waits for this call.
void DpdkTx::roster_moved() noexcept {
  queue_.look_at_link();
  emptied_ |= pause_.now();
}

template <typename FrameOf>
std::uint32_t DpdkTx::send_each(std::size_t wanted, const FrameOf& frame_of) noexcept {
  if (pause_.now()) return 0;
  if (std::exchange(emptied_, false)) [[unlikely]]
    process_.all_headers(number_);
  if (headers_.size() < wanted) process_.gather_sent();
  std::array<rte_mbuf*, kBatchCapacityMax> burst;
  const auto count = static_cast<std::uint16_t>(std::min({wanted, burst.size(), headers_.size()}));
  // A local pointer: the compiler would read the vector's again after each store to a header.
  rte_mbuf* const* const end = headers_.data() + headers_.size();
  for (std::uint16_t i = 0; i < count; ++i) {
    const Frame frame = frame_of(i);
    rte_mbuf* const mbuf = *(end - 1 - i);
    Mbufs::point(mbuf, frame.buffer, area_.at(frame.buffer));
    mbuf->data_off = frame.offset;
    mbuf->data_len = frame.length;
    mbuf->pkt_len = frame.length;
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

std::uint32_t DpdkTx::send(std::span<const TxPacket> packets) noexcept {
  return send_each(packets.size(), [&](std::size_t i) {
    const TxPacket& packet = packets[i];
    const std::ptrdiff_t offset = packet.bytes.data() - area_.at(packet.buffer);
    return Frame{packet.buffer, static_cast<std::uint16_t>(offset),
                 static_cast<std::uint16_t>(packet.bytes.size())};
  });
}

std::uint32_t DpdkTx::send_of(const Batch& batch, std::span<const std::uint16_t> packets) noexcept {
  const std::uint32_t* const buffers = batch.buffer.data();
  const std::uint16_t* const offsets = batch.offset.data();
  const std::uint16_t* const lengths = batch.length.data();
  return send_each(packets.size(), [&](std::size_t i) {
    const std::uint16_t packet = packets[i];
    return Frame{buffers[packet], offsets[packet], lengths[packet]};
  });
}

void DpdkTx::flush() noexcept {
  queue_.look_at_link();
  if (!pause_.now()) rte_eth_tx_done_cleanup(queue_.port, queue_.queue, 0);
}

}  // namespace millrace
