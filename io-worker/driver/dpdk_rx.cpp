// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/driver/dpdk_rx.hpp"

#include <rte_ethdev.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace millrace {
namespace {

constexpr std::uint64_t kCountIntervalNs = 100'000'000;

}  // namespace

void DpdkQueue::look_at_link() const noexcept {
  if (!reconnects) return;
  rte_eth_link link{};
  static_cast<void>(rte_eth_link_get_nowait(port, &link));  // its driver does the rest
}

DpdkRx::DpdkRx(DpdkProcess& process, const ActorContext& context, DpdkQueue queue,
               std::uint32_t plan_port)
    : process_(process),
      queue_(queue),
      pause_(context, plan_port),
      stride_(context.segment.buffers().stride),
      count_ticks_(TscScale(context.status.header().tsc_hz).to_ticks(kCountIntervalNs)) {
  read_counts();
  missed_ = errors_ = 0;  // the counts so far are of an earlier life
}

void DpdkRx::read_counts() noexcept {
  rte_eth_stats stats{};
  if (queue_.queue != 0 || rte_eth_stats_get(queue_.port, &stats) != 0) return;
  const auto growth = [](std::uint64_t now, std::uint64_t& seen) {
    const std::uint64_t before = std::exchange(seen, now);
    return now < before ? now : now - before;  // less: the port was stopped and counts anew
  };
  missed_ += growth(stats.imissed + stats.rx_nombuf, missed_seen_);
  errors_ += growth(stats.ierrors, errors_seen_);
}

// In place and inline: a packet that is returned goes through memory in narrow stores, and a wide
// load of them waits until they are in the cache.
inline void DpdkRx::read_packet(rte_mbuf* mbuf, RxPacket& out) noexcept {
  const std::uint32_t buffer = process_.mbufs().number_of(mbuf);
  MILLRACE_CHECK(buffer != UINT32_MAX);
  out.buffer = buffer;
  out.offset = mbuf->data_off;
  out.length = mbuf->data_len;
  out.wire_length = mbuf->pkt_len;
  out.oversize = out.malformed = false;
  out.ordinal = next_ordinal_++;
  out.time_tsc = 0;
  if (mbuf->nb_segs > 1) [[unlikely]]
    put_together(mbuf, out);
}

std::uint32_t DpdkRx::poll(BufferSource& pool, std::span<RxPacket> out) noexcept {
  static_cast<void>(pool);  // drivers take through our handler
  if (pause_.now()) {
    queue_.look_at_link();
    return 0;
  }
  const auto wanted = static_cast<std::uint16_t>(std::min<std::size_t>(out.size(), kBurstMax));
  const std::uint16_t count = rte_eth_rx_burst(queue_.port, queue_.queue, burst_.data(), wanted);
  if (count == 0) queue_.look_at_link();
  for (std::uint16_t i = 0; i < count; ++i) read_packet(burst_[i], out[i]);
  process_.note_handed_out(count);
  if (const std::uint64_t now = tsc_now(); now - counted_at_ > count_ticks_) {
    counted_at_ = now;
    read_counts();
  }
  return count;
}

RxPacket DpdkRx::packet_of(rte_mbuf* mbuf) noexcept {
  RxPacket packet;
  read_packet(mbuf, packet);
  return packet;
}

void DpdkRx::put_together(rte_mbuf* mbuf, RxPacket& packet) const noexcept {
  auto* const start = static_cast<std::byte*>(mbuf->buf_addr);
  std::uint32_t end = std::uint32_t{mbuf->data_off} + mbuf->data_len;
  rte_mbuf* next = mbuf->next;
  for (const rte_mbuf* part = next; part != nullptr; part = part->next) {
    packet.oversize |= end + part->data_len > std::min<std::uint32_t>(stride_, UINT16_MAX);
    if (packet.oversize) break;
    std::memcpy(start + end, static_cast<std::byte*>(part->buf_addr) + part->data_off,
                part->data_len);
    end += part->data_len;
  }
  packet.length = static_cast<std::uint16_t>(end - mbuf->data_off);
  rte_pktmbuf_free(next);
  Mbufs::reset(mbuf);
}

}  // namespace millrace
