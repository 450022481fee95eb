// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/dpdk_ports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "services/hub/absent_primary.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/support/dpdk_world.hpp"

namespace millrace {
namespace {

using Buffers = std::vector<std::uint32_t>;

class DpdkPortsTest : public ::testing::Test {
 protected:
  DpdkPortsTest() { world_.world.start_all(); }
  Mark mark(std::uint32_t buffer) const {
    return Mark::from_word(world_.world.segment.mark(buffer));
  }
  void put_mark(const Buffers& buffers, Mark mark) {
    for (const std::uint32_t buffer : buffers) world_.world.segment.mark(buffer) = mark.word();
  }
  /// It lets the link be down for a moment.
  bool starts(DpdkPorts& hub, std::uint32_t actor) {
    for (int i = 0; i < 1000; ++i) {
      if (hub.start(actor, rest_)) return true;
      usleep(1000);
    }
    return false;
  }
  /// A driver frees headers of the egress that point to `buffers`.
  void free_sent(DpdkPorts& hub, const Buffers& buffers) {
    const Mbufs mbufs(world_.world.segment);
    std::vector<rte_mbuf*> headers;
    for (const std::uint32_t buffer : buffers) {
      headers.push_back(mbufs.sending(static_cast<std::uint32_t>(headers.size())));
      Mbufs::point(headers.back(), buffer, world_.world.segment.buffers().at(buffer));
    }
    hub.put_sent(0, headers);
  }
  test::DpdkWorld world_;
  Buffers rest_;  ///< what goes home
};

TEST_F(DpdkPortsTest, WhatAFirstRingDidNotWantIsNotGivenHomeLater) {
  world_.world.set("ingress.a.0", ActorState::kVacant);
  DpdkPorts hub(world_.hub);
  world_.world.set("ingress.a.0", ActorState::kAlive);
  ASSERT_TRUE(hub.stop(world_.egress.me.actor));
  ASSERT_TRUE(starts(hub, world_.egress.me.actor));
  EXPECT_TRUE(rest_.empty()) << rest_.size() << " are in its pool too";
}

TEST_F(DpdkPortsTest, OfTwoThatDiedTogetherBothAreFreedBeforeThePortStarts) {
  DpdkPorts hub(world_.hub);
  world_.world.set("ingress.a.0", ActorState::kReclaiming);
  world_.world.set("egress.0", ActorState::kFenced);
  ASSERT_TRUE(hub.stop(world_.ingress.me.actor));
  ASSERT_TRUE(hub.stop(world_.egress.me.actor));
  EXPECT_FALSE(starts(hub, world_.ingress.me.actor)) << "the egress's buffers are not free";
  EXPECT_TRUE(starts(hub, world_.egress.me.actor));
  EXPECT_TRUE(starts(hub, world_.ingress.me.actor));
}

TEST_F(DpdkPortsTest, ARingIsFilledFromWhatTheDeadIngressHad) {
  world_.world.set("ingress.a.0", ActorState::kVacant);
  DpdkPorts hub(world_.hub);
  ASSERT_TRUE(hub.stop(world_.ingress.me.actor));
  ASSERT_TRUE(starts(hub, world_.ingress.me.actor));
  Buffers out(3);
  EXPECT_FALSE(hub.take(0, out)) << "only while its queue is set up";
}

TEST_F(DpdkPortsTest, WhatAStoppedRingOfALivingIngressHeldGoesBackToIt) {
  DpdkPorts hub(world_.hub);
  ASSERT_TRUE(hub.stop(world_.egress.me.actor));
  put_mark({5, 6}, {MarkKind::kRx, 0});
  hub.put(0, Buffers{5, 6});
  ASSERT_TRUE(starts(hub, world_.egress.me.actor));
  std::sort(rest_.begin(), rest_.end());
  EXPECT_EQ(rest_, (Buffers{5, 6})) << "this driver's ring takes none of them again";
}

TEST_F(DpdkPortsTest, WhatAStoppedRingOfALivingEgressHeldGoesHome) {
  DpdkPorts hub(world_.hub);
  ASSERT_TRUE(hub.stop(world_.ingress.me.actor));
  put_mark({9}, {MarkKind::kTx, 0});
  free_sent(hub, {9, 10});
  ASSERT_TRUE(starts(hub, world_.ingress.me.actor));
  EXPECT_EQ(rest_, Buffers{9}) << "10 is not marked as in its queue";
}

TEST_F(DpdkPortsTest, WhatBelongedToTheDeadIsLeftToRecovery) {
  DpdkPorts hub(world_.hub);
  world_.world.set("ingress.a.0", ActorState::kReclaiming);
  world_.world.set("egress.0", ActorState::kReclaiming);
  ASSERT_TRUE(hub.stop(world_.ingress.me.actor));
  put_mark({1}, {MarkKind::kRx, 0});
  put_mark({2}, {MarkKind::kTx, 0});
  put_mark({3}, {MarkKind::kSlot, 1});
  hub.put(0, Buffers{1, 1, 3});
  free_sent(hub, {2, 2});
  ASSERT_TRUE(starts(hub, world_.ingress.me.actor));
  EXPECT_TRUE(rest_.empty());
  EXPECT_EQ(mark(1), (Mark{MarkKind::kRx, 0}));
}

TEST_F(DpdkPortsTest, HeadersThatADriverLeftHalfWrittenAreMadeWhole) {
  DpdkPorts hub(world_.hub);
  put_mark({4}, {MarkKind::kRx, 0});
  const Mbufs mbufs(world_.world.segment);
  const std::array<rte_mbuf*, 2> halves = {mbufs.at(4), mbufs.sending(4)};
  for (rte_mbuf* half : halves) {
    half->next = mbufs.at(5);
    half->nb_segs = 2;
    half->refcnt = 0;
  }
  ASSERT_TRUE(hub.stop(world_.ingress.me.actor));
  EXPECT_EQ(halves[0]->nb_segs, 1);
  EXPECT_EQ(halves[1]->nb_segs, 2) << "the egress lives";
  ASSERT_TRUE(hub.stop(world_.egress.me.actor));
  for (const rte_mbuf* half : halves) {
    EXPECT_EQ(half->next, nullptr);
    EXPECT_EQ(half->nb_segs, 1);
    EXPECT_EQ(half->refcnt, 1);
  }
  ASSERT_TRUE(starts(hub, world_.ingress.me.actor) || starts(hub, world_.egress.me.actor));
  ASSERT_TRUE(starts(hub, world_.egress.me.actor));
}

TEST_F(DpdkPortsTest, TheLinkIsToldOnceAChange) {
  DpdkPorts hub(world_.hub);
  std::vector<std::string> told;
  const auto tell = [&](const std::string& port, bool up) {
    told.push_back(port + (up ? " up" : " down"));
  };
  hub.watch_links(tell);
  hub.watch_links(tell);
  EXPECT_EQ(told, std::vector<std::string>{"a up"});
}

std::string refusal(const std::string& settings, const std::string& arguments = "size=64") {
  test::DpdkWorld world(settings, arguments);
  try {
    DpdkPorts hub(world.hub);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DpdkPorts, TwoPortsWithOneDeviceAreRefused) {
  test::DpdkWorld world;
  Plan plan = world.world.plan;
  plan.ports.push_back(plan.ports[0]);
  plan.ports[1].name = "b";
  world.hub.plan = &plan;
  EXPECT_THAT([&] { DpdkPorts hub(world.hub); },
              ::testing::ThrowsMessage<Error>(
                  ::testing::HasSubstr("is port 'a' already: each port needs")));
}

TEST(DpdkDevice, ADeviceThatCannotBeMadeIsNamed) {
  EXPECT_THAT(refusal("rx_descriptors: 64", "color=red"),
              ::testing::HasSubstr("port 'a' (dpdk): device 'net_null"));
}

TEST(AbsentPrimary, AnActorOfADpdkPortStaysOutAndThatIsSaidOnce) {
  test::DpdkWorld world;
  std::vector<std::string> told;
  AbsentPrimary absent(world.hub, [&](const std::string& text) { told.push_back(text); });
  EXPECT_FALSE(absent.stop(world.ingress.me.actor));
  EXPECT_FALSE(absent.stop(world.ingress.me.actor));
  EXPECT_FALSE(absent.stop(world.egress.me.actor));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0],
            "ingress.a.0 serves a dpdk port and cannot restart without the hub; plan a restart: "
            "millrace down driver, then up");
}

TEST(AbsentPrimary, OthersRestartAsEver) {
  test::SmallWorld world;
  AbsentPrimary absent(world.context("standby"), [](const std::string&) { FAIL(); });
  EXPECT_TRUE(absent.stop(world.actor("ingress.a.0")));
  EXPECT_TRUE(absent.stop(world.actor("egress.0")));
}

}  // namespace
}  // namespace millrace
