// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/lane_share.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(LaneShare, OfAllLanesTogetherIsNoLessAndLessThanOneALaneMore) {
  for (std::uint64_t all = 1; all < 200; ++all) {
    for (std::uint32_t lanes = 1; lanes < 70; ++lanes) {
      const std::uint64_t share = share_of_lane(all, lanes);
      EXPECT_GE(share * lanes, all) << all << " over " << lanes;
      EXPECT_LT((share - 1) * lanes, all) << all << " over " << lanes;
    }
  }
}

TEST(LaneShare, IsOneAtLeastAndWhatFitsAtMost) {
  EXPECT_EQ(share_of_lane(0, 4), 1u);
  EXPECT_EQ(share_of_lane(7, 0), 7u);
  EXPECT_EQ(share_of_lane(UINT64_MAX, 1), UINT32_MAX);
  EXPECT_EQ(share_of_lane(1000, 3, 300), 300u);
}

}  // namespace
}  // namespace millrace
