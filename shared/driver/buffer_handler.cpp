// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/buffer_handler.hpp"

#include <rte_errno.h>
#include <rte_mempool.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::string_view kHandlerName = "millrace";
constexpr std::uint32_t kAtOnce = 256;  ///< buffers that are turned into mbufs, or back, at a time

// Global: a driver's call carries no pointer of ours. There is one a process, as there is one EAL.
DriverBuffers* g_buffers = nullptr;
Mbufs g_mbufs;
bool g_registered = false;

/// Bit of pool_id: the pool is for sending; the other bits are its queue, not its stream.
constexpr std::uint64_t kSending = std::uint64_t{1} << 32;

std::uint32_t number_of(const rte_mempool* pool) {
  return static_cast<std::uint32_t>(pool->pool_id);
}

int free_mbufs(rte_mempool* pool, void* const* objects, unsigned count) {
  if ((pool->pool_id & kSending) != 0) {
    g_buffers->put_sent(number_of(pool), {reinterpret_cast<rte_mbuf* const*>(objects), count});
    return 0;
  }
  std::array<std::uint32_t, kAtOnce> buffers;
  for (unsigned done = 0; done < count;) {
    const unsigned now = std::min(count - done, kAtOnce);
    for (unsigned i = 0; i < now; ++i) {
      buffers[i] = g_mbufs.number_of(static_cast<const rte_mbuf*>(objects[done + i]));
      MILLRACE_CHECK(buffers[i] != UINT32_MAX);
    }
    g_buffers->put(number_of(pool), {buffers.data(), now});
    done += now;
  }
  return 0;
}

int take_mbufs(rte_mempool* pool, void** objects, unsigned count) {
  if ((pool->pool_id & kSending) != 0) return -ENOBUFS;
  const Mbufs mbufs = g_mbufs;  // a local copy: a global would be read again after each store
  std::array<std::uint32_t, kAtOnce> buffers;
  for (unsigned done = 0; done < count;) {
    const unsigned now = std::min(count - done, kAtOnce);
    if (!g_buffers->take(number_of(pool), {buffers.data(), now})) {
      if (done != 0) free_mbufs(pool, objects, done);
      return -ENOBUFS;
    }
    for (unsigned i = 0; i < now; ++i) objects[done + i] = mbufs.at(buffers[i]);
    done += now;
  }
  return 0;
}

int make_nothing(rte_mempool*) { return 0; }
void free_nothing(rte_mempool*) {}
unsigned count_nothing(const rte_mempool*) { return 0; }

std::string pool_name(std::uint32_t stream) { return "millrace." + std::to_string(stream); }

std::string send_pool_name(std::uint32_t queue) { return "millrace.send." + std::to_string(queue); }

/// Caches take 1 MB of DPDK's memory a pool: a topology with more pools has no caches.
constexpr std::size_t kCachedPoolsMax = 16;

/// Headers in a cache: it is emptied at half as many again, of which DPDK wants the pool to be as
/// large at least.
std::uint32_t cache_of(std::uint32_t headers, std::size_t pools) {
  if (pools > kCachedPoolsMax) return 0;
  return std::min<std::uint32_t>(RTE_MEMPOOL_CACHE_MAX_SIZE, headers / 2);
}

DriverPool make_empty_pool(const std::string& name, std::uint32_t count, std::uint32_t cached,
                           BufferArea area) {
  DriverPool pool(rte_mempool_create_empty(name.c_str(), count, kMbufBytes, cached,
                                           sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0));
  if (pool == nullptr) throw system_error("make pool " + name, rte_errno);
  if (const int error = rte_mempool_set_ops_byname(pool.get(), kHandlerName.data(), nullptr);
      error < 0) {
    throw system_error("give a pool our buffer handler", -error);
  }
  rte_pktmbuf_pool_private about{};
  about.mbuf_data_room_size =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(area.stride, UINT16_MAX));
  rte_pktmbuf_pool_init(pool.get(), &about);
  return pool;
}

}  // namespace

void register_buffer_handler(const ActorContext& context, DriverBuffers& buffers) {
  g_buffers = &buffers;
  g_mbufs = Mbufs(context.segment);
  if (g_registered) return;
  rte_mempool_ops ops{};
  std::copy_n(kHandlerName.data(), kHandlerName.size(), ops.name);
  ops.alloc = make_nothing;
  ops.free = free_nothing;
  ops.enqueue = free_mbufs;
  ops.dequeue = take_mbufs;
  ops.get_count = count_nothing;
  if (const int number = rte_mempool_register_ops(&ops); number < 0) {
    throw system_error("register the buffer handler with DPDK", -number);
  }
  g_registered = true;
}

void FreePool::operator()(rte_mempool* pool) const { rte_mempool_free(pool); }

DriverPool make_pool(const ActorContext& context, std::uint32_t stream) {
  const PlanStream& plan = context.plan->streams[stream];
  const BufferArea area = context.segment.buffers();
  DriverPool pool = make_empty_pool(pool_name(stream), plan.buffer_count, 0, area);
  pool->pool_id = stream;
  for (std::uint32_t i = 0; i < plan.buffer_count; ++i) {
    g_mbufs.make(plan.buffer_first + i, area, pool.get());
  }
  return pool;
}

DriverPool make_send_pool(const ActorContext& context, std::uint32_t queue) {
  const std::vector<SendHeaders> all = send_headers(*context.plan);
  const SendHeaders headers = all[queue];
  const BufferArea area = context.segment.buffers();
  DriverPool pool = make_empty_pool(send_pool_name(queue), headers.count,
                                    cache_of(headers.count, all.size()), area);
  pool->pool_id = kSending | queue;
  for (std::uint32_t i = 0; i < headers.count; ++i) {
    g_mbufs.make_sending(headers.first + i, area, pool.get());
  }
  return pool;
}

rte_mempool* find_send_pool(std::uint32_t queue) {
  rte_mempool* const pool = rte_mempool_lookup(send_pool_name(queue).c_str());
  if (pool != nullptr) return pool;
  throw Error("the hub has no pool of transmit queue " + std::to_string(queue) +
              "; end the topology and start it with one build");
}

std::uint64_t send_cache_bytes(const Plan& plan) {
  const std::size_t pools = send_headers(plan).size();
  return pools > kCachedPoolsMax ? 0 : pools * sizeof(rte_mempool_cache) * RTE_MAX_LCORE;
}

void flush_sent(rte_mempool& pool) noexcept { rte_mempool_cache_flush(nullptr, &pool); }

void forget_own_cache(rte_mempool& pool) noexcept {
  rte_mempool_cache* const cache = rte_mempool_default_cache(&pool, rte_lcore_id());
  if (cache != nullptr) cache->len = 0;
}

void forget_caches(rte_mempool& pool) noexcept {
  if (pool.cache_size == 0) return;
  for (unsigned lcore = 0; lcore < RTE_MAX_LCORE; ++lcore) pool.local_cache[lcore].len = 0;
}

void check_pool(std::uint32_t stream) {
  const rte_mempool* pool = rte_mempool_lookup(pool_name(stream).c_str());
  if (pool == nullptr) {
    throw Error("the hub has no pool of stream " + std::to_string(stream) +
                "; end the topology and start it with one build");
  }
  const std::string_view name = rte_mempool_get_ops(pool->ops_index)->name;
  if (name != kHandlerName) {
    throw Error("this build awaits buffer handler '" + std::string(kHandlerName) + "' as number " +
                std::to_string(pool->ops_index) + ", and has '" + std::string(name) +
                "' there; end the topology and start it with one build");
  }
}

}  // namespace millrace
