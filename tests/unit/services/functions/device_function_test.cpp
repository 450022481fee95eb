// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/device_function.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"

namespace millrace {
namespace {

struct NoBatches final : ReaderGrace {
  std::uint64_t now() override { return 0; }
  bool passed(std::uint64_t) override { return true; }
};

class CountingFollower final : public DeviceFollower {
 public:
  explicit CountingFollower(std::uint64_t words) : words_(words) {}
  DeviceCopies follow(DeviceMemory&, ReaderGrace&) override {
    return {.words = words_, .tables = words_ / 5};
  }

 private:
  std::uint64_t words_;
};

TEST(DeviceFunction, AMemorySaysWhatAllOfItsFollowersHaveCopied) {
  FakeDeviceMemory memory;
  NoBatches grace;
  EXPECT_FALSE(memory.has_followers());
  EXPECT_EQ(memory.follow(grace).words, 0u);
  memory.keep(std::make_unique<CountingFollower>(3));
  memory.keep(std::make_unique<CountingFollower>(5));
  EXPECT_TRUE(memory.has_followers());
  EXPECT_EQ(memory.follow(grace).words, 8u);
  EXPECT_EQ(memory.follow(grace).tables, 1u);
}

TEST(DeviceFunction, WhatOneFollowerThrowsWaitsForTheOthers) {
  std::vector<int> followed;
  const std::vector<int> all{1, 2, 3};
  const auto follow = [&](int one) -> DeviceCopies {
    if (one == 1) throw Error("no room");
    followed.push_back(one);
    return {.words = 1};
  };
  EXPECT_THROW(follow_each(all, follow), Error);
  EXPECT_EQ(followed, (std::vector{2, 3}));
}

}  // namespace
}  // namespace millrace
