// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/way_back.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

TEST(WayBack, IsTriedAtOnceAndNotTwiceAtATime) {
  WayBack back(3, "as it was not confirmed");
  EXPECT_EQ(back.what(), "taken back to 3, as it was not confirmed");
  ASSERT_TRUE(back.due({}));
  back.begin();
  EXPECT_FALSE(back.due(WayBack::Time{} + seconds(1000)));
  EXPECT_EQ(back.text("x"),
            "the last change is being taken back to generation 3, as it was not confirmed");
}

TEST(WayBack, IsTriedAgainEverMoreSlowlyAndGivenUpInTheEnd) {
  WayBack back(3, "as it was not confirmed");
  WayBack::Time now{};
  seconds pause = WayBack::kFirstPause;
  for (std::uint32_t i = 1; i <= WayBack::kTriesMax; ++i) {
    ASSERT_FALSE(back.given_up());
    ASSERT_TRUE(back.due(now)) << i;
    back.begin();
    back.failed("front.2 does not start", now);
    EXPECT_FALSE(back.due(now + pause - seconds(1))) << i;
    now += pause;
    pause = std::min(2 * pause, WayBack::kPauseMax);
    if (i == 2) {
      EXPECT_THAT(back.text("x"), AllOf(HasSubstr("try 2 of 10 failed, more follow"),
                                        HasSubstr("front.2 does not start")));
    }
  }
  EXPECT_TRUE(back.given_up());
  EXPECT_FALSE(back.due(now + seconds(1000)));
  EXPECT_THAT(back.text("x"),
              AllOf(HasSubstr("given up after 10 tries"), HasSubstr("front.2 does not start"),
                    HasSubstr("millrace rollback x 3")));
}

}  // namespace
}  // namespace millrace
