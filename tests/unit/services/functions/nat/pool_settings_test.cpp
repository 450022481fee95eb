// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/pool_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

TEST(PoolSettings, AreThoseOfTheFunctionToo) {
  constexpr auto kAll = with_pool_settings(std::array{KnownSetting{.name = "color"}});
  static_assert(kAll.size() == kPoolSettings.size() + 1);
  EXPECT_EQ(kAll.front().name, "inside");
  EXPECT_EQ(kAll.back().name, "color");
  const std::string error = test::error_of([&] { refuse_key("nat", "colour", kAll); });
  EXPECT_THAT(error, HasSubstr("colour: nat has no such setting; there are inside, pool, ports, "));
  EXPECT_THAT(error, HasSubstr("max, color"));
}

}  // namespace
}  // namespace millrace
