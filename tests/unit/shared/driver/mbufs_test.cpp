// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/mbufs.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/dpdk_world.hpp"

namespace millrace {
namespace {

TEST(Mbufs, EachBufferHasAHeaderThatPointsToIt) {
  test::DpdkWorld world;
  const SegmentView& segment = world.world.segment;
  const Mbufs mbufs(segment);
  for (std::uint32_t buffer : {0u, 7u, segment.buffer_count() - 1}) {
    mbufs.make(buffer, segment.buffers(), nullptr);
    rte_mbuf* mbuf = mbufs.at(buffer);
    EXPECT_EQ(mbuf->buf_addr, segment.buffers().at(buffer));
    EXPECT_EQ(mbuf->buf_len, segment.buffers().stride);
    EXPECT_EQ(rte_pktmbuf_mtod(mbuf, std::byte*), segment.buffers().at(buffer) + kBufferHeadroom);
    EXPECT_EQ(mbufs.number_of(mbuf), buffer);
  }
}

TEST(Mbufs, WhatIsNoneOfOursHasNoNumber) {
  test::DpdkWorld world;
  const Mbufs mbufs(world.world.segment);
  const auto* first = reinterpret_cast<const std::byte*>(mbufs.at(0));
  const rte_mbuf other{};
  EXPECT_EQ(mbufs.number_of(&other), UINT32_MAX);
  EXPECT_EQ(mbufs.number_of(nullptr), UINT32_MAX);
  EXPECT_EQ(mbufs.number_of(reinterpret_cast<const rte_mbuf*>(first + 64)), UINT32_MAX);
  EXPECT_EQ(mbufs.number_of(reinterpret_cast<const rte_mbuf*>(first - kMbufBytes)), UINT32_MAX);
  EXPECT_EQ(mbufs.number_of(mbufs.at(world.world.segment.buffer_count())), UINT32_MAX);
}

TEST(Mbufs, TheTableIsThereWithDpdkPortsOnlyAndInTheirLayoutHash) {
  test::DpdkWorld world;
  Plan plan = world.world.plan;
  const SegmentLayout with = segment_layout(plan);
  const std::vector<SendHeaders> queues = send_headers(plan);
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues[0].count, 64u + kBatchCapacityMax) << "its ring, and a batch more";
  EXPECT_GE(with.buffers, with.send_mbufs + std::uint64_t{queues[0].count} * kMbufBytes);
  plan.ports[0].device = "null";
  const SegmentLayout without = segment_layout(plan);
  EXPECT_EQ(without.mbufs, 0u);
  EXPECT_NE(with.hash, without.hash);
  EXPECT_EQ(with.mbufs % kCacheLine, 0u);
  EXPECT_GE(with.send_mbufs, with.mbufs + std::uint64_t{plan.buffer_count} * kMbufBytes);
}

TEST(Mbufs, EachEgressHasHeadersOfItsOwnAtEachPort) {
  test::DpdkWorld world;
  Plan plan = world.world.plan;
  plan.ports.push_back(plan.ports[0]);
  plan.ports[0].settings = {{"devargs", "net_null7"}};
  PlanActor egress = plan.actors.back();
  ASSERT_EQ(egress.kind, ActorKind::kEgress);
  egress.index = 1;
  plan.actors.push_back(egress);
  std::uint32_t next = 0;
  for (const SendHeaders& queue : send_headers(plan)) {
    EXPECT_EQ(queue.first, next);
    EXPECT_EQ(queue.count, (queue.port == 0 ? 512u : 64u) + kBatchCapacityMax);
    next += queue.count;
  }
  EXPECT_EQ(send_headers(plan).size(), 4u);
}

}  // namespace
}  // namespace millrace
