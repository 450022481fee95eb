// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packet_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

constexpr StreamRoom kRoomOfTwo{.streams = 1, .memory_mb = 1};  // records of two flows

class PacketMemoryTest : public testing::Test {
 protected:
  void begin(const FlowTuple* flow) { memory_.begin(&*tables_, {.flow = flow, .now_s = 1}); }

  LaneMemory lane_memory_{IdsLane::needs_of(kRoomOfTwo, {.settings = {}})};
  IdsLane lane_{kRoomOfTwo};
  std::optional<IdsTables> tables_ = lane_.tables_of(lane_memory_.state, {});
  std::vector<Signature> signatures_{2};
  PacketMemory memory_{signatures_, 7};
  FlowTuple one_{.source_port = 1}, two_{.source_port = 2}, three_{.source_port = 3};
};

TEST_F(PacketMemoryTest, FlowbitsAreKeptWithTheirFlow) {
  begin(&one_);
  memory_.set_flowbit(3, true);
  memory_.set_flowbit(511, true);
  EXPECT_TRUE(memory_.flowbit(3));
  EXPECT_EQ(memory_.record(), nullptr);
  memory_.keep();
  begin(&two_);
  EXPECT_FALSE(memory_.flowbit(3));
  begin(&one_);
  EXPECT_TRUE(memory_.flowbit(3) && memory_.flowbit(511));
  memory_.set_flowbit(3, false);
  begin(&one_);  // nothing was kept
  EXPECT_TRUE(memory_.flowbit(3));
  EXPECT_EQ(tables_->records.count(), 1u);
}

TEST_F(PacketMemoryTest, WithoutAFlowOrRoomNothingIsKept) {
  begin(nullptr);
  memory_.set_flowbit(3, true);
  EXPECT_FALSE(memory_.flowbit(3));
  EXPECT_EQ(memory_.need_record(), nullptr);
  memory_.keep();
  begin(&one_);
  EXPECT_NE(memory_.need_record(), nullptr);
  begin(&two_);
  EXPECT_NE(memory_.need_record(), nullptr);
  begin(&three_);
  memory_.set_flowbit(3, true);
  EXPECT_TRUE(memory_.flowbit(3));  // of this packet
  memory_.keep();
  begin(&three_);
  EXPECT_FALSE(memory_.flowbit(3));
  memory_.begin(nullptr, {.flow = &one_, .now_s = 1});
  EXPECT_EQ(memory_.need_record(), nullptr);
  EXPECT_TRUE(memory_.count(0, 0, {}));
}

TEST_F(PacketMemoryTest, BitsOfOtherRulesMeanNothing) {
  begin(&one_);
  memory_.set_flowbit(3, true);
  memory_.keep();
  PacketMemory other(signatures_, 8);
  other.begin(&*tables_, {.flow = &one_, .now_s = 1});
  EXPECT_FALSE(other.flowbit(3));
  other.set_flowbit(4, true);
  other.keep();
  other.begin(&*tables_, {.flow = &one_, .now_s = 1});
  EXPECT_TRUE(other.flowbit(4) && !other.flowbit(3));
}

TEST_F(PacketMemoryTest, WhileItIsMutedNothingIsSetOrCounted) {
  const Threshold once{.kind = Threshold::Kind::kLimit, .seconds = 60};
  begin(&one_);
  memory_.mute(true);
  memory_.set_flowbit(3, true);
  EXPECT_FALSE(memory_.flowbit(3));
  EXPECT_FALSE(memory_.count(0, 0, once));
  memory_.mute(false);
  EXPECT_TRUE(memory_.count(0, 0, once));
  EXPECT_FALSE(memory_.count(0, 0, once));
}

TEST_F(PacketMemoryTest, APacketCountsSoManyTimesAtMost) {
  const Threshold never{.kind = Threshold::Kind::kThreshold, .count = 1000, .seconds = 60};
  begin(&one_);
  for (std::uint32_t i = 0; i < IdsLane::kCountsOfPacket; ++i) {
    EXPECT_EQ(memory_.counted(1, 0, never), Counted::kNotYet);
  }
  EXPECT_EQ(memory_.counted(1, 0, never), Counted::kCounts);
  begin(&one_);
  EXPECT_EQ(memory_.counted(1, 0, never), Counted::kNotYet);
}

}  // namespace
}  // namespace millrace
