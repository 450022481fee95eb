// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shared/actor/context.hpp"
#include "shared/driver/mbufs.hpp"

/// Our mempool handler: drivers take and free buffers by the ownership scheme, and nothing of a
/// pool lies where a killed process could leave it half done. One pool a stream for receiving, one
/// a transmit queue for sending; the pool itself (rte_mempool, shared, never written after start)
/// only names the stream or queue. What a take or a free means is up to the process that it happens
/// in.

namespace millrace {

/// What this process does with the buffers of drivers. Called by drivers, in the thread that called
/// them.
class DriverBuffers {
 public:
  virtual ~DriverBuffers() = default;
  /// Empty buffers of the stream for a receive queue; all or none. Their marks say so already when
  /// it returns.
  virtual bool take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept = 0;
  /// A driver frees what it took: it could not use them, or its queue is being stopped.
  virtual void put(std::uint32_t stream, std::span<const std::uint32_t> buffers) noexcept = 0;
  /// A driver frees headers for sending: it has sent what they point to, or its queue is being
  /// stopped. `queue`: index in send_headers(plan).
  virtual void put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept = 0;
};

/// Registers the handler; EAL runs. In each program it is the first one beyond those that
/// DPDK brings, which is CHECKed where pools are made and found. Drivers call C functions without a
/// word of ours: `buffers` is known to the whole process until it ends. Borrowed.
void register_buffer_handler(const ActorContext& context, DriverBuffers& buffers);

struct FreePool {
  void operator()(rte_mempool* pool) const;
};
using DriverPool = std::unique_ptr<rte_mempool, FreePool>;

/// Hub: the pool of a stream. Throws Error.
DriverPool make_pool(const ActorContext& context, std::uint32_t stream);
/// Hub: the pool of a transmit queue, by its index in send_headers(plan). Throws Error.
DriverPool make_send_pool(const ActorContext& context, std::uint32_t queue);
/// io-worker: the pool of a transmit queue, which the hub has made. Throws Error.
rte_mempool* find_send_pool(std::uint32_t queue);

// Pools for sending have a cache a process, into which drivers free without a call of ours, and out
// of which nothing is taken. It says nothing to others: marks and rings do.

/// What drivers have freed into this thread's cache goes to put_sent() now. Data thread, or the
/// hub's that stops devices.
void flush_sent(rte_mempool& pool) noexcept;
/// An egress that begins: this thread's cache holds nothing of its own.
void forget_own_cache(rte_mempool& pool) noexcept;
/// Hub: what the caches of a dead egress's processes held is found by its marks.
void forget_caches(rte_mempool& pool) noexcept;

/// Of DPDK's own memory, what the caches of a topology take.
std::uint64_t send_cache_bytes(const Plan& plan);

/// io-worker: CHECKs that pool and handler fit. Throws Error that says what differs.
void check_pool(std::uint32_t stream);

}  // namespace millrace
