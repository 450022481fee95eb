// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "shared/links/ledger.hpp"
#include "tests/unit/io-worker/egress/egress_fixture.hpp"

/// An egress whose batches ask for more than their own packets. After each test the law must hold,
/// and every buffer of the pool must be free, with a packet that waits, or in a queue.

namespace millrace::test {

using Frame = std::vector<std::byte>;

inline constexpr MacAddress kPeer = {2, 0, 0, 0, 0, 0x77};

class SideTest : public EgressTest {
 protected:
  void TearDown() override { expect_law(); }

  /// A batch on its way to the egress, still in our hands.
  Batch batch(std::uint64_t sequence, std::uint32_t count = 3) {
    return world_.segment.batch(arrives(sequence, 0, count));
  }
  /// A frame of its own: `bytes` of them, each `fill`.
  static void send(const Batch& batch, std::uint16_t packet, std::uint8_t port, std::size_t bytes,
                   std::byte fill, Reason why = Reason::kReply) {
    const auto to = batch.side.add({.packet = packet,
                                    .kind = static_cast<std::uint8_t>(SideKind::kSend),
                                    .port = port,
                                    .why = static_cast<std::uint8_t>(why)},
                                   bytes);
    ASSERT_EQ(to.size(), bytes);
    std::ranges::fill(to, fill);
  }
  static void copy(const Batch& batch, std::uint16_t packet, std::uint8_t port) {
    batch.side.add({.packet = packet,
                    .kind = static_cast<std::uint8_t>(SideKind::kCopy),
                    .port = port,
                    .why = static_cast<std::uint8_t>(Reason::kCopy)});
  }
  /// Of each of the packets, if its fate is one of `of`.
  static void copies(const Batch& batch, std::vector<std::uint16_t> packets, std::uint8_t port,
                     CopyOf of) {
    const auto bits = batch.side.add({.packet = 0,
                                      .kind = static_cast<std::uint8_t>(SideKind::kCopies),
                                      .port = port,
                                      .argument = static_cast<std::uint32_t>(of),
                                      .why = static_cast<std::uint8_t>(Reason::kCopy)},
                                     kBatchCapacityMax / 8);
    std::ranges::fill(bits, std::byte{0});
    for (const std::uint16_t packet : packets) bits[packet / 8] |= std::byte{1} << packet % 8;
  }
  /// The packet waits for the neighbour, to leave by port b. The question is 60 bytes 0xa5, the
  /// report 48 bytes 0x5e and then `quoted` of the packet, by port a.
  static void hold(const Batch& batch, std::uint16_t packet, NeighbourHandle neighbour,
                   std::uint16_t quoted = 28, std::uint16_t mtu = 0) {
    constexpr std::uint16_t kAsk = 60, kReport = 48;
    const auto to = batch.side.add({.packet = packet,
                                    .kind = static_cast<std::uint8_t>(SideKind::kHold),
                                    .port = 1,
                                    .argument = neighbour.number,
                                    .generation = neighbour.generation,
                                    .why = static_cast<std::uint8_t>(Reason::kHeld),
                                    .back = 0,
                                    .ask = kAsk,
                                    .quoted = quoted,
                                    .mtu = mtu},
                                   kAsk + kReport);
    ASSERT_EQ(to.size(), std::size_t{kAsk + kReport});
    std::ranges::fill(to.first(kAsk), std::byte{0xa5});
    std::ranges::fill(to.subspan(kAsk), std::byte{0x5e});
    batch.consume(packet, Reason::kHeld);
  }
  NeighbourKey key(std::uint8_t last) const {
    NeighbourKey key{.family = NeighbourFamily::kIpv4, .port = 1};
    key.address = {192, 0, 2, last};
    return key;
  }
  NeighbourTableView table() const { return world_.segment.neighbours(); }
  /// One that has been asked for once.
  NeighbourHandle asked(std::uint8_t last, std::uint64_t now_ms = 1) const {
    const NeighbourHandle handle = table().find_or_insert(key(last), now_ms, false);
    EXPECT_TRUE(table().look_up(handle, now_ms).should_ask());
    return handle;
  }
  void answers(std::uint8_t last, std::uint64_t now_ms = 1) const {
    EXPECT_TRUE(table().learn(key(last), kPeer, now_ms,
                              {.only_update = true, .overrides = true, .confirms = true}));
  }

  std::uint64_t consumed(Reason why) const {
    return record().consumed[static_cast<std::size_t>(why)];
  }
  std::uint64_t generated(Reason why) const {
    return record().generated[static_cast<std::size_t>(why)];
  }
  std::uint32_t marked(MarkKind kind, std::uint32_t number) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < world_.plan.side_count; ++i) {
      if (mark(world_.plan.side_first + i) == Mark{kind, number}) ++count;
    }
    return count;
  }
  std::uint32_t free_in_pool() const { return marked(MarkKind::kHand, context_.me.actor); }

  /// Received and generated packets are transmitted, dropped, consumed, or wait.
  void expect_law() const {
    std::uint64_t waiting = 0;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      const LaneRecord at = record(lane);
      std::uint64_t in = at.received, out = at.held();
      for (const std::uint64_t packets : at.transmitted) out += packets;
      for (std::size_t why = 0; why < kReasonCount; ++why) {
        out += at.dropped[why];
        if (why == static_cast<std::size_t>(Reason::kHeld)) continue;
        in += at.generated[why];
        out += at.consumed[why];
      }
      EXPECT_EQ(in, out) << "lane " << lane;
      EXPECT_LE(at.generated[static_cast<std::size_t>(Reason::kHeld)],
                at.consumed[static_cast<std::size_t>(Reason::kHeld)]);
      EXPECT_EQ(at.unaccounted, 0u);
      waiting += at.held();
    }
    const std::uint32_t number = world_.plan.actors[context_.me.actor].index;
    const auto in_queues = static_cast<std::uint32_t>(std::ranges::count_if(
        tx_[1]->ring, [&](std::uint32_t buffer) { return buffer >= world_.plan.side_first; }));
    EXPECT_EQ(marked(MarkKind::kSide, number), waiting);
    EXPECT_EQ(marked(MarkKind::kTx, number), in_queues);
    EXPECT_EQ(free_in_pool() + waiting + in_queues, world_.plan.side_count) << "one has leaked";
  }
};

/// Of a frame that FakeTx has seen: the byte that all of it is; -1: they differ.
inline int fill_of(const Frame& frame) {
  const bool same =
      std::ranges::all_of(frame, [&](std::byte byte) { return byte == frame.front(); });
  return same && !frame.empty() ? std::to_integer<int>(frame.front()) : -1;
}

}  // namespace millrace::test
