// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_settings.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

TEST(AclSettings, AreChosenAmongWords) {
  PlanFunction function;
  EXPECT_FALSE(acl_settings(function).default_drops);
  EXPECT_FALSE(acl_settings(function).non_ip_drops);
  EXPECT_EQ(acl_settings(function).method, AclMethod::kAuto);
  function.settings = {{"default", "drop"}, {"non_ip", "drop"}, {"method", "bits"}};
  EXPECT_TRUE(acl_settings(function).default_drops);
  EXPECT_TRUE(acl_settings(function).non_ip_drops);
  EXPECT_EQ(acl_settings(function).method, AclMethod::kBits);
  function.settings = {{"method", "tree"}};
  EXPECT_THROW(acl_settings(function), Error);
}

TEST(AclSettings, TheRateOfAnswersIsANumber) {
  PlanFunction function;
  EXPECT_EQ(acl_settings(function).reject_rate, 1000u);
  for (const char* const good : {"0", "1", "1000000"}) {
    function.settings = {{"reject_rate", good}};
    EXPECT_EQ(acl_settings(function).reject_rate, std::stoul(good));
  }
  for (const char* const bad : {"", "-1", "1k", "1000001", "99999999999", "1 "}) {
    function.settings = {{"reject_rate", bad}};
    EXPECT_THROW(acl_settings(function), Error) << bad;
  }
}

TEST(AclSettings, AnAlertDropsWhereTheDefaultDoes) {
  AclRule rule{};
  const auto drops = [&](AclAction action, bool default_drops) {
    rule.action = static_cast<std::uint8_t>(action);
    return acl_drops(rule, default_drops);
  };
  EXPECT_TRUE(drops(AclAction::kDrop, false));
  EXPECT_TRUE(drops(AclAction::kReject, false));
  EXPECT_FALSE(drops(AclAction::kPass, true));
  EXPECT_FALSE(drops(AclAction::kClass, true));
  EXPECT_FALSE(drops(AclAction::kAlert, false));
  EXPECT_TRUE(drops(AclAction::kAlert, true));
}

}  // namespace
}  // namespace millrace
