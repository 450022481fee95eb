// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/buffer_handler.hpp"

#include <gtest/gtest.h>
#include <rte_mempool.h>

#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/support/dpdk_world.hpp"

namespace millrace {
namespace {

/// Buffers from 0 upwards; notes what comes back.
class Counting : public DriverBuffers {
 public:
  bool take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept override {
    if (out.size() > left) return false;
    for (std::uint32_t& buffer : out) buffer = next++;
    left -= out.size();
    of = stream;
    return true;
  }
  void put(std::uint32_t, std::span<const std::uint32_t> buffers) noexcept override {
    freed.insert(freed.end(), buffers.begin(), buffers.end());
  }
  void put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept override {
    of = queue;
    for (const rte_mbuf* header : headers) sent.push_back(Mbufs::sent_buffer(header));
  }
  std::uint32_t next = 0, of = 99;
  std::size_t left = 1000;
  std::vector<std::uint32_t> freed, sent;
};

TEST(BufferHandler, DriversTakeAndFreeByTheProcessesRules) {
  test::DpdkWorld world;
  Counting counting;
  register_buffer_handler(world.hub, counting);
  EXPECT_THROW(check_pool(0), Error) << "nobody has made it";
  const DriverPool made = make_pool(world.hub, 0);
  rte_mempool* pool = made.get();
  ASSERT_NE(pool, nullptr);
  EXPECT_NO_THROW(check_pool(0));
  EXPECT_EQ(pool->cache_size, 0u) << "a cache would lie in shared memory";
  std::array<rte_mbuf*, 300> mbufs;
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool, mbufs.data(), 300), 0);
  EXPECT_EQ(counting.of, 0u);
  EXPECT_EQ(mbufs[299]->buf_addr, world.world.segment.buffers().at(299));
  rte_pktmbuf_free_bulk(mbufs.data(), 300);
  ASSERT_EQ(counting.freed.size(), 300u);
  EXPECT_EQ(counting.freed[299], 299u);
  // Not enough for all: what was taken for it goes back.
  counting.freed.clear();
  counting.left = 299;
  EXPECT_NE(rte_pktmbuf_alloc_bulk(pool, mbufs.data(), 300), 0);
  EXPECT_EQ(counting.freed.size(), 256u);
}

TEST(BufferHandler, AHeaderForSendingComesBackAsItsQueuesWithTheBufferItPointsTo) {
  test::DpdkWorld world;
  Counting counting;
  register_buffer_handler(world.hub, counting);
  const DriverPool pool = make_send_pool(world.hub, 0);
  const Mbufs mbufs(world.world.segment);
  std::array<rte_mbuf*, 3> headers{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    headers[i] = mbufs.sending(i);
    EXPECT_EQ(headers[i]->pool, pool.get());
    Mbufs::point(headers[i], 7 + i, world.world.segment.buffers().at(7 + i));
    EXPECT_EQ(headers[i]->buf_addr, world.world.segment.buffers().at(7 + i));
  }
  rte_pktmbuf_free_bulk(headers.data(), 3);
  EXPECT_TRUE(counting.sent.empty()) << "they lie in the cache";
  flush_sent(*pool);
  EXPECT_EQ(counting.of, 0u);
  EXPECT_EQ(counting.sent, (std::vector<std::uint32_t>{7, 8, 9}));
  EXPECT_TRUE(counting.freed.empty());
  rte_mbuf* none = nullptr;
  EXPECT_NE(rte_pktmbuf_alloc_bulk(pool.get(), &none, 1), 0) << "nothing is received into it";
}

TEST(BufferHandler, WhatACacheHeldIsForgottenByTheHubAndByTheNextLife) {
  test::DpdkWorld world;
  Counting counting;
  register_buffer_handler(world.hub, counting);
  const DriverPool pool = make_send_pool(world.hub, 0);
  EXPECT_EQ(find_send_pool(0), pool.get());
  EXPECT_GE(send_cache_bytes(world.world.plan), sizeof(rte_mempool_cache) * RTE_MAX_LCORE);
  std::array<rte_mbuf*, 2> headers = {Mbufs(world.world.segment).sending(0),
                                      Mbufs(world.world.segment).sending(1)};
  rte_pktmbuf_free_bulk(headers.data(), 2);
  forget_own_cache(*pool);
  flush_sent(*pool);
  rte_pktmbuf_free_bulk(headers.data(), 2);
  forget_caches(*pool);
  flush_sent(*pool);
  EXPECT_TRUE(counting.sent.empty());
}

}  // namespace
}  // namespace millrace
