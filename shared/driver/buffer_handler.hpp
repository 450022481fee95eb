// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shared/actor/context.hpp"
#include "shared/driver/mbufs.hpp"

/// Our mempool handler: drivers take and free buffers by the ownership scheme, and a killed process
/// leaves no pool half changed. There is one pool a stream for receiving, and one a transmit queue
/// for sending. The pool itself (rte_mempool, shared, never written after start) only names the
/// stream or queue; the process in which a driver takes or frees decides what that does.

namespace millrace {

/// What this process does with the buffers of drivers. Called by drivers, in the thread that called
/// them.
class DriverBuffers {
 public:
  virtual ~DriverBuffers() = default;
  /// Takes empty buffers of the stream for a receive queue; all or none. They are marked as in the
  /// queue when it returns.
  virtual bool take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept = 0;
  /// A driver frees what it took: it could not use them, or its queue is being stopped.
  virtual void put(std::uint32_t stream, std::span<const std::uint32_t> buffers) noexcept = 0;
  /// A driver frees headers for sending: it has sent what they point to, or its queue is being
  /// stopped. `queue`: index in send_headers(plan).
  virtual void put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept = 0;
};

/// Registers the handler, after EAL has started. In each program it is the first handler after
/// those of DPDK, which is CHECKed where pools are made and found. Drivers call C functions without
/// a pointer of ours, so `buffers` is global until the process ends. Borrowed.
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

/// Passes what drivers have freed into this thread's cache to put_sent(). Data thread, or the hub's
/// thread that stops devices.
void flush_sent(rte_mempool& pool) noexcept;
/// Called by an egress that begins: empties this thread's cache, which holds nothing of its own.
void forget_own_cache(rte_mempool& pool) noexcept;
/// Called by the hub: empties the caches of a dead egress, whose buffers are found by their marks.
void forget_caches(rte_mempool& pool) noexcept;

/// Bytes of DPDK's own memory that the caches of a topology take.
std::uint64_t send_cache_bytes(const Plan& plan);

/// io-worker: CHECKs that pool and handler fit. Throws Error that says what differs.
void check_pool(std::uint32_t stream);

}  // namespace millrace
