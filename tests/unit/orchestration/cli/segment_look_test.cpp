// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/segment_look.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared/layout/neighbour_look.hpp"
#include "tests/unit/support/error_of.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeenMs = 100'000;
constexpr NeighbourKey kHost{.family = NeighbourFamily::kIpv4, .port = 0, .address = {10, 0, 0, 3}};

class SegmentLookTest : public testing::Test {
 protected:
  /// A file of ordinary memory, as the hub fills that of huge pages.
  void SetUp() override {
    ASSERT_TRUE(file_);
    const std::size_t bytes = segment_layout(plan_).bytes;
    ASSERT_EQ(ftruncate(file_.get(), static_cast<off_t>(bytes)), 0);
    memory_ = Mapping::of_file(file_.get(), bytes, "the test's segment");
    segment_ = SegmentView::create(memory_.base(), plan_);
    segment_.neighbours().learn(kHost, {2, 0, 0, 0, 0, 3}, kSeenMs, {.only_update = false});
  }
  static std::size_t count(const SegmentLook& look) {
    std::size_t entries = 0;
    look.neighbours().each([&](const NeighbourSnapshot&) { ++entries; });
    return entries;
  }
  Plan plan_ = plan_of_text(kTwoPaths);
  UniqueFd file_{memfd_create("segment-look-test", MFD_CLOEXEC)};
  Mapping memory_;
  SegmentView segment_;
};

TEST_F(SegmentLookTest, SeesTheNeighboursAndWhatBecomesOfThem) {
  const std::string path = "/proc/self/fd/" + std::to_string(file_.get());
  const SegmentLook look(UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), plan_);
  EXPECT_EQ(count(look), 1u);
  ASSERT_TRUE(segment_.neighbours().forget(kHost));
  EXPECT_EQ(count(look), 0u);
}

TEST_F(SegmentLookTest, ForgetsForAll) {
  const SegmentLook look(file_, plan_, true);
  EXPECT_TRUE(look.neighbours().forget(kHost));
  EXPECT_FALSE(segment_.neighbours().find(kHost).found());
}

TEST_F(SegmentLookTest, AnOtherLayoutIsRefused) {
  Plan other = plan_;
  other.batch_capacity *= 2;
  EXPECT_THAT(error_of([&] { SegmentLook(file_, other); }), HasSubstr("layout"));
  ASSERT_EQ(ftruncate(file_.get(), 4096), 0);
  EXPECT_THAT(error_of([&] { SegmentLook(file_, plan_); }), HasSubstr("smaller"));
}

TEST_F(SegmentLookTest, NobodyHasTheSegmentOfWhatDoesNotRun) {
  EXPECT_THAT(error_of([&] { segment_of(plan_, "/nowhere/at/all"); }),
              HasSubstr("no process in /nowhere/at/all"));
}

}  // namespace
}  // namespace millrace::test
