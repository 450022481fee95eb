// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/say.hpp"

#include <gtest/gtest.h>

#include "shared/base/clock.hpp"

namespace millrace::test {
namespace {

TEST(Say, WritesALineThatIsParsedAgain) {
  const std::uint64_t before = system_clock_ns() / 1000 * 1000;
  testing::internal::CaptureStderr();
  say("front.0", "has a port");
  const std::string line = testing::internal::GetCapturedStderr();
  const auto said = parse_said(line);
  ASSERT_TRUE(said) << line;
  EXPECT_EQ(said->rest, "front.0: has a port\n");
  EXPECT_GE(said->time_ns, before);
  EXPECT_LE(said->time_ns, system_clock_ns());
}

TEST(Say, ALongLineIsCutAndStillALine) {
  testing::internal::CaptureStderr();
  say("a", std::string(5000, 'x'));
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_LT(line.size(), 2100U);
  EXPECT_EQ(line.back(), '\n');
}

TEST(Say, TimeIsUtcWithMicroseconds) {
  EXPECT_EQ(time_stamp(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123456Z");
  const auto said = parse_said("2023-11-14T22:13:20.123456Z hub: ready");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->time_ns, 1'700'000'000'123'456'000U);
  EXPECT_EQ(said->rest, "hub: ready");
}

TEST(Say, OtherLinesHaveNoTime) {
  for (const char* line : {"", "EAL: no free hugepages", "2023-11-14", "2023-11-14T22:13:20Z a",
                           "2023-11-14T22:13:20.12345xZ hub: ready"}) {
    EXPECT_FALSE(parse_said(line)) << line;
  }
}

}  // namespace
}  // namespace millrace::test
