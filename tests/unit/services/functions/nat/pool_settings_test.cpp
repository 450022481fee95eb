// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/pool_settings.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(PoolSettings, AreThoseOfTheFunctionToo) {
  constexpr auto kAll = with_pool_settings(std::array{KnownSetting{.name = "color"}});
  static_assert(kAll.size() == kPoolSettings.size() + 1);
  EXPECT_EQ(kAll.front().name, "inside");
  EXPECT_EQ(kAll.back().name, "color");
}

}  // namespace
}  // namespace millrace
