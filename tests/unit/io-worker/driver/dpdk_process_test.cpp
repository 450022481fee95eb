// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/driver/dpdk_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "io-worker/driver/dpdk_rx.hpp"
#include "io-worker/driver/dpdk_tx.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/support/dpdk_world.hpp"

/// Packets from the driver into buffers of the segment, and from there to the driver.

namespace millrace {
namespace {

class DpdkProcessTest : public ::testing::Test {
 protected:
  DpdkProcessTest() {
    world_.world.start_all();
    pool_ = std::make_unique<BufferPool>(world_.ingress, 0);
  }
  /// The process that is spoken of from here on.
  void be_ingress() {
    process_ = std::make_unique<DpdkProcess>(world_.ingress, "/run/test");
    rx_ = process_->open_rx(0, *pool_);
  }
  void be_egress() {
    process_ = std::make_unique<DpdkProcess>(world_.egress, "/run/test");
    tx_ = process_->open_tx(0, 0);
  }
  std::uint32_t poll(std::uint32_t most = 32) { return rx_->poll(*pool_, {packets_.data(), most}); }
  Mark mark(std::uint32_t buffer) const {
    return Mark::from_word(world_.world.segment.mark(buffer));
  }
  TxPacket to_send(const RxPacket& packet) const {
    const std::byte* data = world_.world.segment.buffers().at(packet.buffer) + packet.offset;
    return {packet.buffer, {data, packet.length}, packet.wire_length, 0};
  }
  test::DpdkWorld world_;
  DpdkPorts hub_{world_.hub};
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<DpdkProcess> process_;
  std::unique_ptr<RxQueue> rx_;
  std::unique_ptr<TxQueue> tx_;
  std::array<RxPacket, kBurstMax> packets_;
};

TEST_F(DpdkProcessTest, PacketsComeInBuffersOfTheStreamMarkedAsInTheQueue) {
  be_ingress();
  rx_->resume(0);
  ASSERT_EQ(poll(), 32u);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(packets_[i].length, 80);
    EXPECT_EQ(packets_[i].wire_length, 80u);
    EXPECT_EQ(packets_[i].offset, kBufferHeadroom);
    EXPECT_EQ(mark(packets_[i].buffer), (Mark{MarkKind::kRx, 0}));
    EXPECT_EQ(packets_[i].ordinal, packets_[0].ordinal + i);
  }
  EXPECT_EQ(rx_->held(), 0u) << "this driver keeps none";
  EXPECT_EQ(world_.marked(MarkKind::kRx), 32u);
}

TEST_F(DpdkProcessTest, WithoutBuffersNothingIsReceived) {
  be_ingress();
  std::vector<std::uint32_t> all(pool_->count());
  all.resize(pool_->take(all));
  EXPECT_EQ(poll(), 0u);
  pool_->give_back(all);
  EXPECT_EQ(poll(), 32u);
}

TEST_F(DpdkProcessTest, NumbersOfANextLifeAreAboveThoseOfTheLast) {
  be_ingress();
  rx_->resume(5'000'000);
  ASSERT_NE(poll(), 0u);
  EXPECT_GT(packets_[0].ordinal, 5'000'000u);
}

TEST_F(DpdkProcessTest, WhatADriverHasSentIsReclaimedOnce) {
  be_ingress();
  ASSERT_EQ(poll(8), 8u);
  be_egress();
  EXPECT_TRUE(tx_->holds_buffers());
  std::vector<TxPacket> sending;
  sending.reserve(8);
  for (int i = 0; i < 8; ++i) sending.push_back(to_send(packets_[i]));
  EXPECT_EQ(tx_->send(sending), 8u);
  std::array<std::uint32_t, 5> out;
  EXPECT_EQ(tx_->reclaim(out), 5u);
  EXPECT_EQ(tx_->reclaim(out), 3u);
  EXPECT_EQ(tx_->reclaim(out), 0u);
  tx_->flush();
}

TEST_F(DpdkProcessTest, APortThatIsBeingRestartedIsLeftAlone) {
  be_ingress();
  world_.world.set("egress.0", ActorState::kFenced);
  world_.world.status.header().epoch.fetch_add(1);
  EXPECT_EQ(poll(), 0u);
  world_.world.set("egress.0", ActorState::kAlive);
  world_.world.status.header().epoch.fetch_add(1);
  ASSERT_EQ(poll(1), 1u);
  be_egress();
  world_.world.set("ingress.a.0", ActorState::kReclaiming);
  world_.world.status.header().epoch.fetch_add(1);
  const TxPacket packet = to_send(packets_[0]);
  EXPECT_EQ(tx_->send({&packet, 1}), 0u);
}

/// As a driver that keeps what it is given: takes a queue's headers away.
TEST_F(DpdkProcessTest, AQueueWhoseHeadersAreAllInTheDriverIsFullUntilTheyComeBack) {
  be_ingress();
  ASSERT_EQ(poll(4), 4u);
  be_egress();
  const TxPacket packet = to_send(packets_[0]);
  std::vector<rte_mbuf*>& headers = process_->all_headers(0);
  ASSERT_EQ(headers.size(), 64u + kBatchCapacityMax);
  const std::vector<rte_mbuf*> away(headers.begin() + 1, headers.end());
  headers.resize(1);
  std::array<TxPacket, 2> both = {packet, to_send(packets_[1])};
  EXPECT_EQ(tx_->send(both), 1u);
  process_->gather_sent();
  headers.clear();
  EXPECT_EQ(tx_->send(both), 0u);
  process_->put_sent(0, away);
  EXPECT_EQ(tx_->send(both), 2u);
}

TEST_F(DpdkProcessTest, AfterARestartOfThePortAllHeadersAreTheQueuesAgain) {
  be_ingress();
  ASSERT_EQ(poll(1), 1u);
  be_egress();
  const TxPacket packet = to_send(packets_[0]);
  std::vector<rte_mbuf*>& headers = process_->all_headers(0);
  const std::size_t all = headers.size();
  headers.clear();  // all in the ring that the hub empties
  world_.world.set("ingress.a.0", ActorState::kFenced);
  world_.world.status.header().epoch.fetch_add(1);
  tx_->roster_moved();
  EXPECT_EQ(tx_->send({&packet, 1}), 0u);
  world_.world.set("ingress.a.0", ActorState::kAlive);
  world_.world.status.header().epoch.fetch_add(1);
  tx_->roster_moved();
  EXPECT_EQ(tx_->send({&packet, 1}), 1u);
  process_->gather_sent();
  EXPECT_EQ(headers.size(), all);
}

TEST_F(DpdkProcessTest, PacketsAreSentFromTheirBatch) {
  be_ingress();
  ASSERT_EQ(poll(4), 4u);
  const Batch batch = world_.world.segment.batch(world_.world.make({.count = 4}));
  for (std::uint32_t i = 0; i < 4; ++i) batch.buffer[i] = packets_[i].buffer;
  be_egress();
  EXPECT_TRUE(tx_->reads_batches());
  batch.offset[3] += 4;
  batch.length[3] = 44;
  const std::vector<rte_mbuf*> headers = process_->all_headers(0);
  EXPECT_EQ(tx_->send_of(batch, std::array<std::uint16_t, 3>{0, 1, 3}), 3u);
  const rte_mbuf* const last = headers[headers.size() - 3];
  EXPECT_EQ(Mbufs::sent_buffer(last), batch.buffer[3]);
  EXPECT_EQ(rte_pktmbuf_mtod(last, std::byte*), batch.data(3));
  EXPECT_EQ(last->data_len, 44);
  EXPECT_EQ(last->pkt_len, 44u);
  std::array<std::uint32_t, 8> out;
  ASSERT_EQ(tx_->reclaim(out), 3u);
  std::sort(out.begin(), out.begin() + 3);
  std::array<std::uint32_t, 3> sent = {batch.buffer[0], batch.buffer[1], batch.buffer[3]};
  std::sort(sent.begin(), sent.end());
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), out.begin()));
}

/// The hub has taken the ring's buffers home; what lies in the cache has been freed before.
TEST_F(DpdkProcessTest, WhatADriverFreedBeforeThePortStoppedIsReclaimedAndNoHeaderComesTwice) {
  be_ingress();
  ASSERT_EQ(poll(2), 2u);
  be_egress();
  const TxPacket packet = to_send(packets_[0]);
  const TxPacket other = to_send(packets_[1]);
  ASSERT_EQ(tx_->send({&packet, 1}), 1u);
  const std::vector<rte_mbuf*>& headers = process_->all_headers(0);
  ASSERT_EQ(tx_->send({&other, 1}), 1u);
  process_->gather_sent();
  EXPECT_EQ(headers.size(), 64u + kBatchCapacityMax);
  EXPECT_EQ(std::set(headers.begin(), headers.end()).size(), headers.size());
  std::array<std::uint32_t, 8> out;
  EXPECT_EQ(tx_->reclaim(out), 2u);
}

TEST_F(DpdkProcessTest, ANextLifeBelievesNothingOfTheCacheOfTheOneBefore) {
  be_ingress();
  ASSERT_EQ(poll(1), 1u);
  be_egress();
  const TxPacket packet = to_send(packets_[0]);
  ASSERT_EQ(tx_->send({&packet, 1}), 1u);
  be_egress();
  std::array<std::uint32_t, 8> out;
  EXPECT_EQ(tx_->reclaim(out), 0u) << "recovery has it, by its mark";
  EXPECT_EQ(process_->all_headers(0).size(), 64u + kBatchCapacityMax);
}

TEST_F(DpdkProcessTest, AnEgressGivesADriverNoBuffers) {
  be_egress();
  std::array<std::uint32_t, 1> out;
  EXPECT_FALSE(process_->take(0, out));
}

TEST_F(DpdkProcessTest, ADeviceThatTheHubDoesNotHaveIsNamed) {
  Plan plan = world_.world.plan;
  plan.ports[0].settings = {{"devargs", "net_null999"}};
  world_.ingress.plan = &plan;
  try {
    be_ingress();
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "port 'a' (dpdk): the hub has no device 'net_null999' for this process; is the hub "
              "alive? millrace status driver --run-dir /run/test");
  }
}

/// A packet in three buffers, as a driver hands it over.
class ChainTest : public DpdkProcessTest {
 protected:
  rte_mbuf* chain(std::uint16_t bytes_each) {
    std::array<rte_mbuf*, 3> parts{};
    for (rte_mbuf*& part : parts) {
      std::array<std::uint32_t, 1> buffer;
      EXPECT_TRUE(process_->take(0, buffer));
      part = process_->mbufs().at(buffer[0]);
      part->data_off = RTE_PKTMBUF_HEADROOM;
      part->data_len = bytes_each;
      std::memset(rte_pktmbuf_mtod(part, void*), 'a' + static_cast<int>(&part - parts.data()),
                  bytes_each);
    }
    parts[0]->next = parts[1];
    parts[1]->next = parts[2];
    parts[0]->nb_segs = 3;
    parts[0]->pkt_len = 3u * bytes_each;
    return parts[0];
  }
};

TEST_F(ChainTest, IsPutTogetherInItsFirstBufferAndTheOthersGoBack) {
  be_ingress();
  auto& queue = dynamic_cast<DpdkRx&>(*rx_);
  const RxPacket packet = queue.packet_of(chain(400));
  EXPECT_FALSE(packet.oversize);
  EXPECT_EQ(packet.length, 1200);
  EXPECT_EQ(packet.wire_length, 1200u);
  const std::byte* data = world_.world.segment.buffers().at(packet.buffer) + packet.offset;
  EXPECT_EQ(data[399], std::byte{'a'});
  EXPECT_EQ(data[400], std::byte{'b'});
  EXPECT_EQ(data[1199], std::byte{'c'});
  EXPECT_EQ(world_.marked(MarkKind::kRx), 1u);
  EXPECT_EQ(process_->mbufs().at(packet.buffer)->next, nullptr);
  EXPECT_EQ(process_->mbufs().at(packet.buffer)->nb_segs, 1);
}

TEST_F(ChainTest, IsOversizeWhenItDoesNotFit) {
  be_ingress();
  auto& queue = dynamic_cast<DpdkRx&>(*rx_);
  const RxPacket packet = queue.packet_of(chain(900));
  EXPECT_TRUE(packet.oversize);
  EXPECT_EQ(packet.length, 1800);
  EXPECT_EQ(packet.wire_length, 2700u);
  EXPECT_EQ(world_.marked(MarkKind::kRx), 1u);
}

}  // namespace
}  // namespace millrace
