// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/neighbour_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/unit/shared/layout/neighbour_memory.hpp"

namespace millrace {
namespace {

using enum NeighbourState;

constexpr NeighbourNews kReply{.only_update = true, .overrides = true, .confirms = true};
constexpr NeighbourNews kRequest{.only_update = false, .overrides = true, .confirms = false};
constexpr NeighbourNews kSolicited{.only_update = true, .overrides = false, .confirms = true};
constexpr NeighbourNews kUnsolicited{.only_update = true, .overrides = false, .confirms = false};

class NeighbourTableTest : public ::testing::Test {
 protected:
  const NeighbourKey key_ = neighbour_key(10);
  const MacAddress mac_ = mac_of(10), other_mac_ = mac_of(10, 1);
  NeighbourMemory memory_;
  NeighbourTableView table_ = memory_.table();

  NeighbourHandle insert(std::uint64_t now_ms = 1) {
    return table_.find_or_insert(key_, now_ms, false);
  }
  NeighbourHandle known(std::uint64_t now_ms) {
    const NeighbourHandle handle = insert(now_ms);
    EXPECT_TRUE(table_.learn(key_, mac_, now_ms, kReply));
    return handle;
  }
  void expect(NeighbourHandle handle, std::uint64_t now_ms, NeighbourState state,
              NeighbourAsk ask = NeighbourAsk::kNo) {
    const NeighbourAnswer answer = table_.look_up(handle, now_ms);
    EXPECT_EQ(answer.state, state) << "at " << now_ms;
    EXPECT_EQ(answer.ask, ask) << "at " << now_ms;
    EXPECT_EQ(answer.should_ask(), ask != NeighbourAsk::kNo);
    EXPECT_EQ(answer.has_mac(), state == kKnown || state == kStatic);
    EXPECT_TRUE(answer.has_mac() || answer.mac == MacAddress{});
  }
  std::vector<NeighbourSnapshot> all() const {
    std::vector<NeighbourSnapshot> out;
    table_.each([&](const NeighbourSnapshot& one) { out.push_back(one); });
    return out;
  }
};

TEST_F(NeighbourTableTest, ZeroedMemoryIsAnEmptyTable) {
  EXPECT_EQ(table_.entry_count(), 64u);
  EXPECT_FALSE(table_.find(key_).found());
  EXPECT_TRUE(all().empty());
  EXPECT_EQ(table_.full_count() + table_.evicted_count(), 0u);
}

TEST_F(NeighbourTableTest, AHintHoldsUntilTheNeighbourIsAnother) {
  NeighbourHint hint;
  EXPECT_FALSE(table_.is_fresh(hint, 1));
  const NeighbourHandle handle = insert(1);
  EXPECT_FALSE(table_.keep(handle, 1, hint)) << "incomplete";
  EXPECT_TRUE(table_.learn(key_, mac_, 2, kReply));
  ASSERT_TRUE(table_.keep(handle, 2, hint));
  EXPECT_EQ(hint.mac, mac_);
  EXPECT_TRUE(table_.is_fresh(hint, 2));
  EXPECT_TRUE(table_.is_fresh(hint, 1 + kNeighbourUsedGrainMs));
  EXPECT_FALSE(table_.is_fresh(hint, 2 + kNeighbourUsedGrainMs)) << "used, and perhaps to be asked";
  EXPECT_TRUE(table_.learn(key_, other_mac_, 3, kReply));
  EXPECT_FALSE(table_.is_fresh(hint, 3)) << "another MAC";
  ASSERT_TRUE(table_.keep(handle, 3, hint));
  EXPECT_EQ(hint.mac, other_mac_);
  ASSERT_TRUE(table_.forget(key_));
  EXPECT_FALSE(table_.is_fresh(hint, 3));
  EXPECT_FALSE(table_.keep(handle, 3, hint)) << "void";
  EXPECT_TRUE(insert(4).found());
  EXPECT_TRUE(table_.learn(key_, other_mac_, 4, kReply));
  EXPECT_FALSE(table_.is_fresh(hint, 4)) << "the same words in another life of the entry";
}

TEST_F(NeighbourTableTest, AHintIsNotGivenWhereAQuestionIsDue) {
  const NeighbourHandle handle = known(1);
  NeighbourHint hint;
  EXPECT_TRUE(table_.keep(handle, kNeighbourTimes.reachable_ms, hint));
  EXPECT_FALSE(table_.keep(handle, 1 + kNeighbourTimes.reachable_ms, hint));
  expect(handle, 1 + kNeighbourTimes.reachable_ms, kKnown, NeighbourAsk::kUnicast);
  EXPECT_TRUE(table_.set_static(neighbour_key(11), mac_, 1));
  EXPECT_TRUE(table_.keep(table_.find(neighbour_key(11)), 1'000'000'000, hint));
}

TEST_F(NeighbourTableTest, FindsWhatWasInsertedAndNothingAlikeIt) {
  const NeighbourHandle handle = insert();
  EXPECT_TRUE(handle.found());
  EXPECT_EQ(table_.find(key_), handle);
  EXPECT_EQ(insert(2), handle);
  NeighbourKey alike = key_;
  alike.port = 5;
  EXPECT_FALSE(table_.find(alike).found());
  alike = key_;
  alike.family = NeighbourFamily::kIpv6;
  EXPECT_FALSE(table_.find(alike).found());
  alike = key_;
  alike.address[15] = 1;
  EXPECT_FALSE(table_.find(alike).found());
}

TEST_F(NeighbourTableTest, TheFirstSecretStays) {
  table_.init(1);
  EXPECT_EQ(insert().number, NeighbourKeyWords::of(key_).hash(kTestSecret) % kNeighbourCountMin);
}

TEST_F(NeighbourTableTest, TheFirstUseAsksByMulticastOnce) {
  const NeighbourHandle handle = insert();
  expect(handle, 1, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 1, kIncomplete);
  expect(handle, 1000, kIncomplete);
}

TEST_F(NeighbourTableTest, AnUnansweredNeighbourIsAskedOnceARetryAndFailsAfterThree) {
  const NeighbourHandle handle = insert();
  expect(handle, 1, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 1001, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 2000, kIncomplete);
  expect(handle, 2001, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 3000, kIncomplete);
  EXPECT_FALSE(table_.has_failed(handle));
  expect(handle, 3001, kFailed);
  EXPECT_TRUE(table_.has_failed(handle));
  EXPECT_FALSE(table_.is_ready(handle));
}

TEST_F(NeighbourTableTest, AFailedNeighbourIsAskedAgainWhenTheHoldIsOver) {
  const NeighbourHandle handle = insert();
  for (const std::uint64_t now_ms : {1, 1001, 2001, 3001}) table_.look_up(handle, now_ms);
  expect(handle, 6000, kFailed);
  expect(handle, 6001, kIncomplete, NeighbourAsk::kMulticast);
  EXPECT_FALSE(table_.has_failed(handle));
  expect(handle, 7001, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 8001, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 9001, kFailed);
}

TEST_F(NeighbourTableTest, AHoldThatPassedUnseenIsOver) {
  const NeighbourHandle handle = insert();
  for (const std::uint64_t now_ms : {1, 1001, 2001}) table_.look_up(handle, now_ms);
  expect(handle, 100'000, kIncomplete, NeighbourAsk::kMulticast);
}

TEST_F(NeighbourTableTest, AReplyMakesItKnownForTheReachableTime) {
  const NeighbourHandle handle = known(5);
  EXPECT_TRUE(table_.is_ready(handle));
  expect(handle, 6, kKnown);
  EXPECT_EQ(table_.look_up(handle, 6).mac, mac_);
  expect(handle, 30'004, kKnown);
  expect(handle, 30'005, kKnown, NeighbourAsk::kUnicast);
}

TEST_F(NeighbourTableTest, AClockReadBeforeTheProofDoesNotMakeItStale) {
  expect(known(5000), 4000, kKnown);
}

TEST_F(NeighbourTableTest, AStaleNeighbourIsUsedWhileItIsProbedAndThenGivenUp) {
  const NeighbourHandle handle = known(1);
  expect(handle, 40'000, kKnown, NeighbourAsk::kUnicast);
  expect(handle, 40'999, kKnown);
  expect(handle, 41'000, kKnown, NeighbourAsk::kUnicast);
  expect(handle, 42'000, kKnown, NeighbourAsk::kUnicast);
  expect(handle, 42'999, kKnown);
  expect(handle, 43'000, kIncomplete, NeighbourAsk::kMulticast);
  EXPECT_FALSE(table_.is_ready(handle));
  expect(handle, 44'000, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 45'000, kIncomplete, NeighbourAsk::kMulticast);
  expect(handle, 46'000, kFailed);
}

TEST_F(NeighbourTableTest, AnAnswerToAProbeMakesItReachableAndStartsTheCountAnew) {
  const NeighbourHandle handle = known(1);
  expect(handle, 40'000, kKnown, NeighbourAsk::kUnicast);
  EXPECT_TRUE(table_.learn(key_, mac_, 40'001, kSolicited));
  expect(handle, 70'000, kKnown);
  expect(handle, 70'001, kKnown, NeighbourAsk::kUnicast);
  EXPECT_EQ(all().at(0).asks, 1u);
}

TEST_F(NeighbourTableTest, ARequestInsertsAStaleNeighbour) {
  EXPECT_TRUE(table_.learn(key_, mac_, 7, kRequest));
  const NeighbourHandle handle = table_.find(key_);
  EXPECT_TRUE(table_.is_ready(handle));
  expect(handle, 8, kKnown, NeighbourAsk::kUnicast);
  expect(handle, 9, kKnown);
}

TEST_F(NeighbourTableTest, WhatOnlyUpdatesInsertsNothing) {
  EXPECT_FALSE(table_.learn(key_, mac_, 7, kReply));
  EXPECT_FALSE(table_.find(key_).found());
}

TEST_F(NeighbourTableTest, AnyAdvertisementAnswersAnIncompleteOrFailedNeighbour) {
  const NeighbourHandle handle = insert();
  table_.look_up(handle, 1);
  EXPECT_TRUE(table_.learn(key_, mac_, 2, kUnsolicited));
  expect(handle, 3, kKnown, NeighbourAsk::kUnicast);  // stale
  table_.forget(key_);
  const NeighbourHandle again = insert(10);
  for (const std::uint64_t now_ms : {10, 1010, 2010, 3010}) table_.look_up(again, now_ms);
  EXPECT_TRUE(table_.has_failed(again));
  EXPECT_TRUE(table_.learn(key_, mac_, 3011, kSolicited));
  expect(again, 3012, kKnown);
}

TEST_F(NeighbourTableTest, AnotherMacWithoutOverrideOnlyMakesAKnownNeighbourStale) {
  for (const NeighbourNews& news : {kUnsolicited, kSolicited}) {
    table_.forget(key_);
    const NeighbourHandle handle = known(1);
    EXPECT_FALSE(table_.learn(key_, other_mac_, 2, news));
    EXPECT_EQ(table_.look_up(handle, 3).mac, mac_);
    EXPECT_EQ(all().at(0).confirmed_ms, 0u);
    EXPECT_EQ(all().at(0).asks, 1u) << "stale: probed";
  }
}

TEST_F(NeighbourTableTest, AnotherMacWithoutOverrideDoesNotProlongProbing) {
  const NeighbourHandle handle = known(1);
  expect(handle, 40'000, kKnown, NeighbourAsk::kUnicast);
  EXPECT_FALSE(table_.learn(key_, other_mac_, 40'001, kUnsolicited));
  expect(handle, 40'002, kKnown);
  EXPECT_EQ(all().at(0).asks, 1u);
}

TEST_F(NeighbourTableTest, AnOverrideChangesTheMacAndLeavesItStaleUnlessItConfirms) {
  const NeighbourHandle handle = known(1);
  EXPECT_TRUE(table_.learn(key_, other_mac_, 2, kRequest));
  const NeighbourAnswer answer = table_.look_up(handle, 3);
  EXPECT_EQ(answer.mac, other_mac_);
  EXPECT_EQ(answer.ask, NeighbourAsk::kUnicast);
  EXPECT_TRUE(table_.learn(key_, mac_, 4, kReply));
  EXPECT_EQ(table_.look_up(handle, 5).mac, mac_);
  expect(handle, 5, kKnown);
}

TEST_F(NeighbourTableTest, TheSameMacUnsolicitedChangesNothing) {
  const NeighbourHandle handle = known(1);
  EXPECT_TRUE(table_.learn(key_, mac_, 20'000, kRequest));
  EXPECT_EQ(all().at(0).confirmed_ms, 1u);
  expect(handle, 40'000, kKnown, NeighbourAsk::kUnicast);
}

TEST_F(NeighbourTableTest, GroupAddressesAndZeroAreNotLearnt) {
  insert();
  EXPECT_FALSE(table_.learn(key_, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 2, kReply));
  EXPECT_FALSE(table_.learn(key_, {0x01, 0, 0x5e, 0, 0, 1}, 2, kReply));
  EXPECT_FALSE(table_.learn(key_, {}, 2, kReply));
  EXPECT_EQ(all().at(0).state, kNone);
}

TEST_F(NeighbourTableTest, AStaticNeighbourIsNeitherAskedForNorChanged) {
  EXPECT_TRUE(table_.set_static(key_, mac_, 1));
  const NeighbourHandle handle = table_.find(key_);
  EXPECT_TRUE(table_.is_ready(handle));
  EXPECT_FALSE(table_.learn(key_, other_mac_, 2, kReply));
  EXPECT_TRUE(table_.learn(key_, mac_, 2, kReply));
  expect(handle, 1'000'000, kStatic);
  EXPECT_EQ(table_.look_up(handle, 3).mac, mac_);
  EXPECT_TRUE(table_.set_static(key_, other_mac_, 4));
  EXPECT_EQ(table_.look_up(handle, 5).mac, other_mac_);
  EXPECT_TRUE(table_.set_static(key_, other_mac_, 6)) << "as it is already";
  EXPECT_EQ(table_.find(key_), handle);
}

TEST_F(NeighbourTableTest, OnlyAStaticNeighbourIsContradicted) {
  EXPECT_FALSE(table_.contradicts(key_, mac_)) << "not there";
  known(1);
  EXPECT_FALSE(table_.contradicts(key_, other_mac_)) << "learnt";
  EXPECT_TRUE(table_.set_static(key_, mac_, 1));
  EXPECT_FALSE(table_.contradicts(key_, mac_));
  EXPECT_TRUE(table_.contradicts(key_, other_mac_));
}

TEST_F(NeighbourTableTest, AStaticNeighbourThatIsForgottenIsAskedFor) {
  known(1);
  EXPECT_FALSE(table_.forget_static(key_)) << "learnt";
  EXPECT_TRUE(table_.find(key_).found());
  EXPECT_TRUE(table_.set_static(key_, other_mac_, 2));
  const NeighbourHandle handle = table_.find(key_);
  EXPECT_TRUE(table_.forget_static(key_));
  EXPECT_FALSE(table_.forget_static(key_)) << "not there";
  EXPECT_TRUE(table_.has_failed(handle));
  const NeighbourHandle again = insert();
  expect(again, 3, kIncomplete, NeighbourAsk::kMulticast);
  EXPECT_FALSE(all().at(0).pinned);
}

TEST_F(NeighbourTableTest, AForgottenEntryVoidsItsHandleEvenIfItsKeyComesAgain) {
  const NeighbourHandle handle = known(1);
  EXPECT_TRUE(table_.forget(key_));
  EXPECT_FALSE(table_.forget(key_));
  EXPECT_FALSE(table_.find(key_).found());
  expect(handle, 2, kNone);
  const NeighbourHandle again = known(3);
  EXPECT_EQ(again.number, handle.number);
  EXPECT_NE(again.generation, handle.generation);
  expect(handle, 4, kNone);
  EXPECT_FALSE(table_.is_ready(handle));
  EXPECT_TRUE(table_.has_failed(handle));
  EXPECT_FALSE(table_.set_pinned(handle, true));
  EXPECT_TRUE(table_.is_ready(again));
}

TEST_F(NeighbourTableTest, NoHandleIsVoid) {
  expect({}, 1, kNone);
  EXPECT_FALSE(table_.is_ready({}));
  EXPECT_TRUE(table_.has_failed({}));
  EXPECT_FALSE(table_.set_pinned({}, true));
}

TEST_F(NeighbourTableTest, ASnapshotShowsWhatIsKnown) {
  const NeighbourHandle handle = known(1);
  table_.look_up(handle, 40'000);
  table_.set_pinned(handle, true);
  table_.set_static(neighbour_key(11), mac_of(11), 1);
  std::size_t seen = 0;
  for (const NeighbourSnapshot& one : all()) {
    if (!(one.key == key_)) {
      EXPECT_EQ(one.key, neighbour_key(11));
      EXPECT_EQ(one.state, kStatic);
      EXPECT_TRUE(one.pinned) << "an evictor that did not see its link must fail";
      EXPECT_EQ(one.mac, mac_of(11));
      continue;
    }
    ++seen;
    EXPECT_EQ(one.state, kKnown);
    EXPECT_TRUE(one.pinned);
    EXPECT_EQ(one.mac, mac_);
    EXPECT_EQ(one.confirmed_ms, 1u);
    EXPECT_EQ(one.used_ms, 40'000u);
    EXPECT_EQ(one.asked_ms, 40'000u);
    EXPECT_EQ(one.asks, 1u);
  }
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(all().size(), 2u);
}

TEST(NeighbourTableDeathTest, RefusesMemoryThatIsNoTable) {
  alignas(64) static std::array<std::byte, neighbour_table_bytes(128)> memory;
  EXPECT_DEATH(NeighbourTableView(std::span(memory).first(neighbour_table_bytes(96))), "CHECK");
  EXPECT_DEATH(NeighbourTableView(std::span(memory).first(neighbour_table_bytes(32))), "CHECK");
  EXPECT_DEATH(NeighbourTableView(std::span(memory).first(neighbour_table_bytes(64) + 8)), "CHECK");
  EXPECT_DEATH(NeighbourTableView(std::span(memory).subspan(8, neighbour_table_bytes(64))),
               "CHECK");
}

}  // namespace
}  // namespace millrace
