// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/doctor/host_files.hpp"

#include "tests/unit/orchestration/doctor/fake_host.hpp"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(FakeHost, TellsTextNumbersAndLines) {
  put("/proc/some", "first:\t 12 kB \nsecond: x\n\n");
  put("/proc/number", "42 and more\n");
  EXPECT_EQ(host().text("/proc/some"), "first:\t 12 kB \nsecond: x");
  EXPECT_EQ(host().line("/proc/some", "first"), "12 kB");
  EXPECT_EQ(host().line("/proc/some", "third"), std::nullopt);
  EXPECT_EQ(host().number("/proc/number"), 42U);
  EXPECT_EQ(host().number("/proc/some"), std::nullopt);
  EXPECT_EQ(host().text("/proc/none"), std::nullopt);
}

TEST_F(FakeHost, TellsNamesAndWhereLinksPoint) {
  put("/sys/b", "");
  put("/sys/a", "");
  link("/sys/device/driver", "../../drivers/ixgbe");
  EXPECT_THAT(host().names("/sys"), ElementsAre("a", "b", "device"));
  EXPECT_THAT(host().names("/nowhere"), IsEmpty());
  EXPECT_EQ(host().link_name("/sys/device/driver"), "ixgbe");
  EXPECT_EQ(host().link_name("/sys/a"), "");
}

TEST(CountOfList, CountsRangesAndSingleNumbers) {
  EXPECT_EQ(count_of_list("0-3,8"), 5U);
  EXPECT_EQ(count_of_list("7"), 1U);
  EXPECT_EQ(count_of_list(""), 0U);
  EXPECT_EQ(count_of_list("x"), 0U);
}

}  // namespace
}  // namespace millrace::test
