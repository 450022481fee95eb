// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/build_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/shared/control/plan_sample.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

const BuildLayout kSome{1, 22, 333, 4, 55, 666};

TEST(BuildLayout, IsALine) {
  EXPECT_EQ(to_text(kSome), "layout segment 1 22 333 status 4 55 666");
  EXPECT_EQ(parse_layout(to_text(kSome)), kSome);
}

TEST(BuildLayout, IsNoOtherLine) {
  for (const char* line :
       {"", "layout", "layout segment 1 22 333 status 4 55",
        "layout segment 1 22 333 status 4 55 666 7", "layout status 1 22 333 segment 4 55 666",
        "layout segment x 22 333 status 4 55 666"}) {
    EXPECT_FALSE(parse_layout(line)) << line;
  }
}

TEST(BuildLayout, DependsOnThePlanAlone) {
  Plan plan = test::filled_plan();
  const BuildLayout first = layout_of_build(plan);
  EXPECT_EQ(layout_of_build(plan), first);
  plan.slot_count += 64;
  EXPECT_NE(layout_of_build(plan), first);
}

TEST(BuildLayout, NamesWhatDiffers) {
  EXPECT_EQ(difference(kSome, kSome), "");
  BuildLayout other = kSome;
  other.status_hash = 7;
  EXPECT_EQ(difference(kSome, other),
            "the status file that runs has ABI 4, layout 55, 666 bytes; it has ABI 4, layout 7, "
            "666 bytes");
  other.segment_abi = 2;
  EXPECT_THAT(difference(kSome, other), HasSubstr("the segment that runs has ABI 1, layout 22"));
}

}  // namespace
}  // namespace millrace
