// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"
#include "shared/driver/buffer_handler.hpp"

/// DPDK in an io-worker: a secondary process of the hub, which has made, configured and started the
/// ports. The io-worker polls only its own queues. Drivers take buffers from the ingress's pool;
/// buffers that they free go back there, or, in an egress, wait for reclaim().

namespace millrace {

struct DpdkQueue;

class DpdkProcess final : public DriverBuffers {
 public:
  /// Looks for the pools. Called after EAL has started, which takes long, and before the actor
  /// enrols. Throws Error.
  DpdkProcess(const ActorContext& context, std::string run_dir);
  DpdkProcess(const DpdkProcess&) = delete;  // drivers call this very object
  DpdkProcess& operator=(const DpdkProcess&) = delete;

  /// Ingress: its queue. `pool` is borrowed.
  std::unique_ptr<RxQueue> open_rx(std::uint32_t stream, BufferSource& pool);
  /// Egress `number`: its queue at the port.
  std::unique_ptr<TxQueue> open_tx(std::uint32_t port, std::uint32_t number);

  bool take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept override;
  void put(std::uint32_t stream, std::span<const std::uint32_t> buffers) noexcept override;
  void put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept override;
  /// Egress: collects the headers that drivers have freed since; reclaim() gives their buffers.
  void gather_sent() noexcept {
    for (rte_mempool* const pool : send_pools_) flush_sent(*pool);
  }
  /// Egress: up to out.size() of the buffers of gathered headers.
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept;
  /// Buffers in the receive queue of this process's ingress.
  std::uint32_t held() const noexcept { return held_; }
  const Mbufs& mbufs() const noexcept { return mbufs_; }
  /// Egress: opens the pool of headers of a queue. Throws Error.
  void open_send_pool(std::uint32_t queue);
  /// Egress: the free headers of transmit queue `queue`, the newest last. Belongs to the caller
  /// from here on.
  std::vector<rte_mbuf*>& all_headers(std::uint32_t queue);
  void note_handed_out(std::uint32_t count) noexcept { held_ -= count; }

 private:
  DpdkQueue queue_of(const PlanPort& port, std::uint32_t queue) const;

  ActorContext context_;
  const std::string run_dir_;  ///< of the topology, for messages
  Mbufs mbufs_;
  std::uint32_t stream_ = UINT32_MAX;  ///< of this ingress
  BufferSource* pool_ = nullptr;       ///< of this ingress
  std::uint32_t held_ = 0;
  /// Free headers of an egress, by transmit queue.
  std::vector<std::vector<rte_mbuf*>> headers_;
  std::vector<rte_mempool*> send_pools_;  ///< of the queues that this egress has opened
  std::vector<std::uint32_t> freed_;      ///< by drivers, in an egress; room for all buffers
};

}  // namespace millrace
