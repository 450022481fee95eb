// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/keeper_watch.hpp"

#include <unistd.h>

#include "shared/base/clock.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"

namespace millrace {
namespace {

class LeavingRx : public test::FakeRx {
 public:
  bool leave_with_keepers() noexcept override {
    ++asked;
    return taken;
  }
  int asked = 0;
  bool taken = true;
};

class KeeperWatchTest : public test::IngressFixture {
 protected:
  KeeperWatchTest() : watch_(context_, queue_) {}
  /// Looks until the queue was asked so often; a watch asks once a second at most.
  void look_until(int asked) {
    const std::uint64_t start = monotonic_ns();
    while (queue_.asked < asked && monotonic_ns() - start < 30'000'000'000) {
      watch_.look();
      ::usleep(5000);
    }
    ASSERT_EQ(queue_.asked, asked);
  }

  LeavingRx queue_;
  KeeperWatch watch_;
};

TEST_F(KeeperWatchTest, AQueueLeavesWhatOutlivesItWithEachNewKeeperOnce) {
  look_until(1);
  watch_.look();
  EXPECT_EQ(queue_.asked, 1);
  ++context_.entry(1).incarnation;
  look_until(2);
  ++context_.entry(0).incarnation;
  look_until(3);
}

TEST_F(KeeperWatchTest, AKeeperThatHasNotGotItIsAskedAgainASecondLater) {
  queue_.taken = false;
  const std::uint64_t before = monotonic_ns();
  look_until(2);
  EXPECT_GE(monotonic_ns() - before, 1'000'000'000u);
}

}  // namespace
}  // namespace millrace
