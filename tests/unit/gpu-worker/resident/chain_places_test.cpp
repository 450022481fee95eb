// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu-worker/resident/chain_places.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "gpu-worker/resident/batch_grace.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"

namespace millrace {
namespace {

/// Memory that says of itself how much of it there is.
class FakeMemory : public FakeDeviceMemory {
 public:
  explicit FakeMemory(int& alive) : alive_(alive) { ++alive_; }
  ~FakeMemory() override { --alive_; }

 private:
  int& alive_;
};

class ChainPlacesTest : public ::testing::Test {
 protected:
  std::uint32_t load(std::size_t stage, std::uint32_t edition) {
    places_.free_unused();
    const std::uint32_t place = places_.vacant();
    places_.load(stage, place, {.edition = edition, .members = edition + 1},
                 std::make_unique<FakeMemory>(alive_));
    return place;
  }

  int alive_ = 0;
  ChainPlaces places_{2};
};

TEST_F(ChainPlacesTest, WhatIsLoadedCountsOnceItIsTaken) {
  EXPECT_EQ(places_.place_of(0), ChainPlaces::kNone);
  EXPECT_FALSE(places_.computes_with(0, 0));
  const std::uint32_t place = load(0, 7);
  EXPECT_EQ(places_.place_of(0), ChainPlaces::kNone);
  places_.take_loaded();
  EXPECT_EQ(places_.place_of(0), place);
  EXPECT_EQ(places_.facts(place).members, 8u);
  EXPECT_TRUE(places_.computes_with(0, 7));
  EXPECT_FALSE(places_.computes_with(0, 6));
  EXPECT_EQ(places_.place_of(1), ChainPlaces::kNone) << "another stage";
  places_.take_loaded();
  EXPECT_EQ(places_.place_of(0), place) << "nothing new";
}

/// Copies three words each time, and a table.
class ThreeWords final : public DeviceFollower {
 public:
  DeviceCopies follow(DeviceMemory&, ReaderGrace&) override { return {.words = 3, .tables = 1}; }
};

TEST_F(ChainPlacesTest, LiveTablesAreFollowedForAsLongAsTheyAreThere) {
  BatchGrace grace;
  EXPECT_FALSE(places_.has_followers());
  load(1, 0);
  EXPECT_FALSE(places_.has_followers());
  auto tables = std::make_unique<FakeMemory>(alive_);
  tables->keep(std::make_unique<ThreeWords>());
  tables->keep(std::make_unique<ThreeWords>());
  places_.load(0, places_.vacant(), {}, std::move(tables));
  EXPECT_TRUE(places_.has_followers()) << "before it is taken, too";
  const DeviceCopies copies = places_.follow(grace);
  EXPECT_EQ(copies.words, 6u);
  EXPECT_EQ(copies.tables, 2u);
  places_.forget_loaded();
  places_.free_unused();
  EXPECT_FALSE(places_.has_followers());
  EXPECT_EQ(places_.follow(grace).words, 0u);
}

TEST_F(ChainPlacesTest, TheOldOneStaysUntilItsLastBatchHasLeft) {
  const std::uint32_t before = load(0, 0);
  places_.take_loaded();
  places_.enter(before);
  places_.enter(before);
  const std::uint32_t after = load(0, 1);
  EXPECT_NE(after, before);
  places_.take_loaded();
  places_.free_unused();
  EXPECT_EQ(alive_, 2);
  places_.leave(before);
  places_.free_unused();
  EXPECT_EQ(alive_, 2);
  EXPECT_NE(places_.vacant(), before);
  places_.leave(before);
  EXPECT_EQ(alive_, 2) << "freed by the thread that loads";
  places_.free_unused();
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(places_.vacant(), before);
}

TEST_F(ChainPlacesTest, ACurrentOneStaysWithoutABatch) {
  const std::uint32_t place = load(0, 0);
  places_.take_loaded();
  places_.enter(place);
  places_.leave(place);
  places_.free_unused();
  EXPECT_EQ(alive_, 1);
  EXPECT_NE(places_.vacant(), place);
}

TEST_F(ChainPlacesTest, WhatIsForgottenIsFreedAndNotTaken) {
  const std::uint32_t place = load(0, 0);
  places_.take_loaded();
  const std::uint32_t other = load(0, 1);
  load(1, 1);
  places_.forget_loaded();
  places_.free_unused();
  EXPECT_EQ(alive_, 1);
  places_.take_loaded();
  EXPECT_EQ(places_.place_of(0), place);
  EXPECT_EQ(places_.place_of(1), ChainPlaces::kNone);
  EXPECT_EQ(places_.vacant(), other);
}

TEST_F(ChainPlacesTest, VersionsThatAllHaveBatchesUnderWayLeaveNoRoom) {
  std::uint32_t oldest = ChainPlaces::kNone;
  for (std::uint32_t edition = 0; edition < ChainPlaces::kNone; ++edition) {
    const std::uint32_t place = load(0, edition);
    places_.take_loaded();
    places_.enter(place);
    if (edition == 0) oldest = place;
  }
  EXPECT_THROW(places_.vacant(), Error);
  places_.leave(oldest);
  EXPECT_EQ(places_.vacant(), oldest);
}

/// The memory of the version that a batch entered is there until it leaves, whatever loads
/// meanwhile (a thread sanitizer looks on).
TEST(ChainPlaces, TwoThreads) {
  constexpr std::uint32_t kEditions = 300;
  ChainPlaces places(1);
  int alive = 0;
  std::atomic<bool> offered = true;
  places.load(0, places.vacant(), {.edition = 0}, std::make_unique<FakeMemory>(alive));
  std::thread control([&] {
    for (std::uint32_t edition = 1; edition <= kEditions;) {
      places.free_unused();
      if (offered.load(std::memory_order_acquire)) {
        std::this_thread::yield();
        continue;
      }
      ASSERT_TRUE(places.computes_with(0, edition - 1));
      places.load(0, places.vacant(), {.edition = edition}, std::make_unique<FakeMemory>(alive));
      offered.store(true, std::memory_order_release);
      ++edition;
    }
  });
  std::uint32_t under_way[8] = {}, editions[8] = {}, count = 0, last = 0;
  for (std::uint32_t round = 0; last < kEditions; ++round) {
    if (offered.load(std::memory_order_acquire)) {
      places.take_loaded();
      offered.store(false, std::memory_order_release);
    }
    const std::uint32_t at = round % 8;
    if (count == 8) {
      EXPECT_EQ(places.facts(under_way[at]).edition, editions[at]) << "its place was used again";
      places.leave(under_way[at]);
      --count;
    }
    under_way[at] = places.place_of(0);
    editions[at] = last = places.facts(under_way[at]).edition;
    places.enter(under_way[at]);
    ++count;
    std::this_thread::yield();
  }
  control.join();
  for (const std::uint32_t place : under_way) places.leave(place);
  places.free_unused();
  EXPECT_EQ(alive, 1);
}

}  // namespace
}  // namespace millrace
