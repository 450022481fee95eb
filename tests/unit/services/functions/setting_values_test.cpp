// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/setting_values.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

TEST(SettingValues, Numbers) {
  EXPECT_EQ(setting_number("max", "18446744073709551615"), UINT64_MAX);
  for (const char* wrong : {"", "x", "1x", "-1", "18446744073709551616"}) {
    EXPECT_EQ(test::error_of([&] { setting_number("max", wrong); }),
              "max: '" + std::string(wrong) + "' is no number");
  }
}

TEST(SettingValues, Flags) {
  EXPECT_TRUE(setting_flag("pickup", "true"));
  EXPECT_FALSE(setting_flag("pickup", "false"));
  EXPECT_EQ(test::error_of([] { setting_flag("pickup", "yes"); }),
            "pickup: 'yes' is neither true nor false");
}

TEST(SettingValues, KeysThatAFunctionDoesNotHaveAreRefusedWithThoseThatItHas) {
  constexpr KnownSetting kRows[] = {{.name = "rules"}, {.name = "default"}};
  PlanFunction function{.name = "wall", .type = "acl", .settings = {{"rules", "x"}}};
  EXPECT_EQ(test::error_of([&] { check_keys(function, kRows); }), "no error");
  function.settings.emplace_back("classes", "voice");
  EXPECT_EQ(test::error_of([&] { check_keys(function, kRows, true); }), "no error");
  EXPECT_EQ(test::error_of([&] { check_keys(function, kRows); }),
            "classes: acl has no such setting; there are rules, default");
}

}  // namespace
}  // namespace millrace
