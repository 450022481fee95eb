// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A stream that feeds several paths: which packet goes where, and how a next life goes on.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "shared/base/flow_key.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace::test {
namespace {

/// `one` has lane 0, `two` lanes 3 to 6. Those between are of `other`, which the stream does not
/// feed.
const std::string kPaths =
    "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
    "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
    "paths:\n  one: { from: a, match: \"ether[5] & 3 = 1\" }\n"
    "  other: { from: b, lanes: 2 }\n"
    "  two: { from: a, match: \"ether[5] & 3 = 2\", lanes: 4 }\n";

/// A flow whose destination's last byte is `last`.
constexpr std::uint64_t flow(std::uint64_t last, std::uint64_t number = 0) {
  return last << 40 | number;
}

class PathsTest : public IngressFixture {
 protected:
  PathsTest() : IngressFixture(kPaths) {}
  /// What has left, by lane.
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_lane() {
    std::map<std::uint32_t, std::vector<std::uint64_t>> lanes;
    for (const Left& batch : left()) {
      auto& lane = lanes[batch.lane];
      lane.insert(lane.end(), batch.ordinals.begin(), batch.ordinals.end());
    }
    return lanes;
  }
};

TEST_F(PathsTest, TheFirstFilterThatMatchesTakesAPacket) {
  rx_.offer(2, flow(1));
  for (std::uint64_t i = 0; i < 40; ++i) rx_.offer(1, flow(2, i));
  rx_.offer(1, flow(5));
  rounds(8);
  const auto lanes = by_lane();
  EXPECT_EQ(lanes.at(0), (std::vector<std::uint64_t>{0, 1, 42}));
  std::size_t spread = 0;
  for (const auto& [lane, ordinals] : lanes) {
    EXPECT_TRUE(std::ranges::is_sorted(ordinals));
    if (lane != 0) spread += ordinals.size();
    EXPECT_TRUE(lane == 0 || (lane >= 3 && lane <= 6)) << lane;
  }
  EXPECT_EQ(spread, 40u);
  EXPECT_GE(lanes.size(), 4u);
}

TEST_F(PathsTest, APacketThatNoPathTakesIsDroppedInTheFirst) {
  rx_.offer(1, flow(1));
  rx_.offer(2, flow(3));
  rx_.offered.push_back({flow(3), true});
  rounds(1);
  const std::vector<Left> batches = left();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].lane, 0u);
  const Batch batch = world_.segment.batch(in_flight_.front());
  EXPECT_TRUE(batch.goes_on(0));
  for (const std::uint32_t packet : {1u, 2u, 3u}) EXPECT_FALSE(batch.goes_on(packet));
  EXPECT_EQ(batch.reason[1], static_cast<std::uint8_t>(Reason::kNoPath));
  EXPECT_EQ(batch.reason[3], static_cast<std::uint8_t>(Reason::kOversize));
}

TEST_F(PathsTest, ANextLifeGoesOnInTheLanesOfAllPaths) {
  for (std::uint64_t i = 0; i < 30; ++i) rx_.offer(1, flow(1 + i % 2, i));
  rounds(8);
  std::map<std::uint32_t, std::uint64_t> last;
  for (const Left& batch : left()) last[batch.lane] = batch.sequence;
  begin_life();
  EXPECT_EQ(rx_.resumed, 30u);
  release_all();
  for (std::uint64_t i = 0; i < 30; ++i) rx_.offer(1, flow(1 + i % 2, i));
  rounds(8);
  for (const Left& batch : left()) {
    EXPECT_EQ(batch.sequence, ++last[batch.lane]) << batch.lane;
    for (const std::uint64_t ordinal : batch.ordinals) EXPECT_GE(ordinal, 30u);
  }
}

// The column of keys: filled for each packet where the path has keys, left alone elsewhere.

/// Frames of all kinds, each once.
class MixedRx : public RxQueue {
 public:
  MixedRx() {
    std::mt19937 random(11);
    for (int i = 0; i < 60; ++i) {
      Frame frame = random_frame(random);
      if (frame.size() <= 1500) frames.push_back(std::move(frame));
    }
    const std::string text(20, 'x');
    for (int i = 0; i < 20; ++i) {
      frames.push_back(FrameBuilder().ipv4(6, 40).tcp(5).text(text).build());
      frames.push_back(FrameBuilder().ipv4(17, 28).udp(20).text(text).build());
    }
  }
  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    std::uint32_t count = 0, buffer = 0;
    while (count < out.size() && next < frames.size() && pool.take({&buffer, 1}) == 1) {
      const Frame& frame = frames[next];
      std::memcpy(pool.area().at(buffer) + kBufferHeadroom, frame.data(), frame.size());
      const auto bytes = static_cast<std::uint16_t>(frame.size());
      out[count++] = {buffer, kBufferHeadroom, bytes, bytes, false, false, next++, 0};
    }
    return count;
  }
  void resume(std::uint64_t first_wanted) noexcept override { next = first_wanted; }
  bool exhausted() const noexcept override { return next >= frames.size(); }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }

  std::vector<Frame> frames;
  std::uint64_t next = 0;
};

/// How many packets of all slots have been looked at, and how many of their keys say something.
struct Seen {
  std::uint32_t packets = 0, written = 0, usual = 0;
};

Seen keys_after_ingress(const std::string& path) {
  const test::SmallWorld world(
      "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
      "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
      "workers: { front: { kind: classifier }, gpu: { kind: gpu, device: software } }\n"
      "functions: { k: { type: keyed, on: gpu }, p: { type: pass, on: gpu } }\n"
      "paths: { one: { from: [a], slots: 64, " +
      path + " } }\n");
  world.start_all();
  ActorContext context = world.context("ingress.a.0");
  context.me.incarnation = 1;
  const PlanStream& stream = world.plan.streams[0];
  const auto all_of = [&](std::uint32_t slot) {
    return world.segment.batch(slot, world.segment.capacity()).key;
  };
  for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
    for (FlowKey& key : all_of(stream.slot_first + i)) std::memset(&key, 0xee, sizeof key);
  }
  MixedRx rx;
  const std::size_t offered = rx.frames.size();
  BufferPool pool(context, 0);
  IngressActor ingress(context, 0, pool, rx);
  ingress.read_roster();
  for (int i = 0; i < 200; ++i) ingress.do_work();
  Seen seen;
  for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
    const Batch batch = world.segment.batch(stream.slot_first + i);
    for (std::uint32_t packet = 0; packet < batch.count; ++packet, ++seen.packets) {
      const FlowKey expected = flow_key_of(batch.bytes(packet));
      seen.usual += expected.protocol != 0 ? 1 : 0;
      seen.written += std::memcmp(&batch.key[packet], &expected, sizeof expected) == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(seen.packets, offered);
  return seen;
}

TEST(IngressKeys, AreWrittenWhereThePathHasThem) {
  for (const char* const lanes : {"1", "4"}) {
    const Seen seen = keys_after_ingress(std::string("run: [k], lanes: ") + lanes);
    EXPECT_EQ(seen.written, seen.packets) << lanes;
    EXPECT_GE(seen.usual, 40u) << lanes;
    EXPECT_LT(seen.usual, seen.packets) << lanes;
  }
}

TEST(IngressKeys, AreNotWrittenElsewhere) {
  EXPECT_EQ(keys_after_ingress("run: [p], lanes: 4").written, 0u);
  EXPECT_EQ(keys_after_ingress("run: [p], lanes: 1").written, 0u);
}

class NextLifeTest : public IngressFixture {};

TEST_F(NextLifeTest, TheNextLifeGoesOnWithSequenceTotalsAndPositionOfTheSlots) {
  rx_.offer(20);
  rounds(4);
  ASSERT_EQ(left().size(), 3u);
  release_one();
  begin_life();
  EXPECT_EQ(rx_.resumed, 20u);
  rx_.offer(2);
  rounds(4);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 4, 22, 22, {20, 21}}}));
}

TEST_F(NextLifeTest, TheNextLifeGoesOnBehindTheLedgerWhenNothingIsInFlight) {
  rx_.offer(20);
  rounds(4);
  release_all();
  begin_life();
  rx_.offer(1);
  rounds(1);
  EXPECT_EQ(left(), (std::vector<Left>{{0, 4, 21, 21, {20}}}));
}

TEST_F(NextLifeTest, ANextLifeHasEverySlotOnceHoweverItWasReturned) {
  rx_.offer(8 * 16);
  rounds(5);
  left();
  release_one();
  release_one();
  begin_life();
  rx_.offer(8 * 20);
  rounds(20);
  EXPECT_EQ(left().size(), 2u);
  std::set<std::uint32_t> slots(in_flight_.begin(), in_flight_.end());
  EXPECT_EQ(slots.size(), 16u);
}

}  // namespace
}  // namespace millrace::test
