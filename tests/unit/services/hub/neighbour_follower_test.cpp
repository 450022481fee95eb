// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/neighbour_follower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/io-worker/ports/veth.hpp"
#include "tests/unit/shared/layout/neighbour_memory.hpp"

namespace millrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using std::chrono_literals::operator""ms;

constexpr MacAddress kFirstMac = {2, 0, 0, 0, 0, 5}, kSecondMac = {2, 0, 0, 0, 0, 6};

NeighbourKey at_lan(std::uint8_t host) {
  return {.family = NeighbourFamily::kIpv4, .port = 0, .address = {10, 1, 0, host}};
}
NeighbourKey at_wan(std::uint8_t host) {
  return {.family = NeighbourFamily::kIpv6,
          .port = 1,
          .address = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host}};
}

/// Ports `lan` and `wan` with the kernel's interfaces `here` and `there` behind them.
class NeighbourFollowerTest : public test::VethTest {
 protected:
  NeighbourFollower follower() {
    return {ports_,
            {.table = table_,
             .run_dir = "/run/test",
             .now_ms = [this] { return now_ms_; },
             .tell = [this](const std::string& what) { told_.push_back(what); }}};
  }
  /// Until the table is as it should be; a turn takes what the kernel has told.
  static bool turns_until(NeighbourFollower& follower, const std::function<bool()>& condition) {
    for (int turn = 0; turn < 1000; ++turn) {
      if (condition()) return true;
      follower.turn(10ms);
    }
    return false;
  }
  bool is_static(const NeighbourKey& key, const MacAddress& mac = kFirstMac) const {
    const NeighbourAnswer answer = table_.look_up(table_.find(key), now_ms_);
    return answer.state == NeighbourState::kStatic && answer.mac == mac;
  }
  std::size_t static_count() const {
    std::size_t count = 0;
    table_.each(
        [&](const NeighbourSnapshot& one) { count += one.state == NeighbourState::kStatic; });
    return count;
  }
  static void neighbour(const std::string& words) { shell("ip neighbour " + words); }

  const std::vector<PlanPort> ports_ = {{.name = "lan", .host = 2},
                                        {.name = "wan", .host = 3},
                                        {.name = "lan.host", .settings = {{"interface", "here"}}},
                                        {.name = "wan.host", .settings = {{"interface", "there"}}}};
  NeighbourMemory memory_{1024};
  NeighbourTableView table_ = memory_.table();
  std::uint64_t now_ms_ = 5000;
  std::vector<std::string> told_;
};

TEST_F(NeighbourFollowerTest, WhatIsThereAtFirstThenChanges) {
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  neighbour("add 10.1.0.7 lladdr 02:00:00:00:00:05 dev here nud reachable");
  NeighbourFollower follower = this->follower();
  ASSERT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
  EXPECT_EQ(static_count(), 1u) << "what the kernel has learnt is left to it";
  neighbour("add fe80::5 lladdr 02:00:00:00:00:05 dev there nud permanent");
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_wan(5)); }));
  neighbour("replace 10.1.0.5 lladdr 02:00:00:00:00:06 dev here nud permanent");
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5), kSecondMac); }));
  neighbour("del fe80::5 dev there");
  EXPECT_TRUE(turns_until(follower, [&] { return !table_.find(at_wan(5)).found(); }));
  neighbour("change 10.1.0.5 lladdr 02:00:00:00:00:06 dev here nud stale");
  EXPECT_TRUE(turns_until(follower, [&] { return static_count() == 0; }));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(NeighbourFollowerTest, OneThatADaemonHasLearntIsFixed) {
  NeighbourFollower follower = this->follower();
  follower.turn(0ms);
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here extern_learn");
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
}

TEST_F(NeighbourFollowerTest, WhatWasLearntByPacketsIsNotTakenAway) {
  table_.learn(at_lan(7), kFirstMac, now_ms_, {.only_update = false, .overrides = true});
  NeighbourFollower follower = this->follower();
  follower.turn(0ms);
  neighbour("add 10.1.0.7 lladdr 02:00:00:00:00:06 dev here nud reachable");
  neighbour("del 10.1.0.7 dev here");
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  ASSERT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
  EXPECT_EQ(table_.look_up(table_.find(at_lan(7)), now_ms_).mac, kFirstMac);
}

TEST_F(NeighbourFollowerTest, OneByAnotherInterfaceIsTheHostsOwn) {
  shell("ip link add other type veth peer name another && ip link set other up");
  NeighbourFollower follower = this->follower();
  follower.turn(0ms);
  neighbour("add 10.1.0.9 lladdr 02:00:00:00:00:05 dev other nud permanent");
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  ASSERT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
  EXPECT_EQ(static_count(), 1u);
}

TEST_F(NeighbourFollowerTest, ASuccessorTakesAwayWhatWentMeanwhile) {
  table_.set_static(at_lan(5), kFirstMac, now_ms_);
  table_.set_static(at_lan(6), kSecondMac, now_ms_);
  table_.learn(at_lan(7), kFirstMac, now_ms_, {.only_update = false, .overrides = true});
  neighbour("add 10.1.0.6 lladdr 02:00:00:00:00:05 dev here nud permanent");
  NeighbourFollower follower = this->follower();
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(6)); }));
  EXPECT_FALSE(table_.find(at_lan(5)).found());
  EXPECT_TRUE(table_.find(at_lan(7)).found());
  forget_kernel_neighbours(table_);
  EXPECT_EQ(static_count(), 0u);
  EXPECT_TRUE(table_.find(at_lan(7)).found());
}

TEST_F(NeighbourFollowerTest, ChangesThatTheKernelHasNoRoomToTellAreNotMissed) {
  NeighbourFollower follower = this->follower();
  follower.turn(0ms);
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  ASSERT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
  // More than the socket holds, then what matters.
  shell(
      "for turn in 1 2 3; do for i in $(seq 1 250); do for j in 2 3 4 5; do echo neighbour replace "
      "10.$j.0.$i lladdr 02:00:00:00:00:0$turn dev here nud stale; done; done; done | ip -batch -");
  neighbour("del 10.1.0.5 dev here");
  neighbour("add 10.1.0.6 lladdr 02:00:00:00:00:05 dev here nud permanent");
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(6)); }));
  EXPECT_FALSE(table_.find(at_lan(5)).found());
}

TEST_F(NeighbourFollowerTest, AnInterfaceThatComesLaterIsFollowedToo) {
  shell("ip link set here down && ip link set here name away");
  NeighbourFollower follower = this->follower();
  follower.turn(0ms);
  shell("ip link set away name here && ip link set here up");
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
  shell("ip link set here down");  // the kernel forgets its neighbours
  EXPECT_TRUE(turns_until(follower, [&] { return static_count() == 0; }));
}

TEST_F(NeighbourFollowerTest, OneThatIsForgottenByHandComesBack) {
  NeighbourFollower follower = this->follower();
  follower.turn(0ms);
  neighbour("add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  ASSERT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
  ASSERT_TRUE(table_.forget(at_lan(5)));
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(5)); }));
}

TEST_F(NeighbourFollowerTest, ThoseWithoutAPlaceAreToldOfOnceAndGetOneLater) {
  const NeighbourMemory small(64);
  table_ = small.table();
  NeighbourFollower follower = this->follower();
  shell(
      "for i in $(seq 1 100); do echo neighbour add 10.1.0.$i lladdr 02:00:00:00:00:05 dev here "
      "nud permanent; done | ip -batch -");
  ASSERT_TRUE(turns_until(follower, [&] { return !told_.empty(); }));
  EXPECT_THAT(told_, ElementsAre(AllOf(HasSubstr("more than 64"), HasSubstr("no place"))));
  shell("for i in $(seq 1 99); do echo neighbour del 10.1.0.$i dev here; done | ip -batch -");
  EXPECT_TRUE(turns_until(follower, [&] { return is_static(at_lan(100)) && static_count() == 1; }));
  EXPECT_EQ(told_.size(), 1u);
}

}  // namespace
}  // namespace millrace
