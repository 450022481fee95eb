// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/restart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

Plan plan_with(const std::string& device, const std::string& interface) {
  Plan plan;
  plan.ports = {{.name = "wan", .device = device, .settings = {{"interface", interface}}}};
  return plan;
}

std::string error_of(const Plan& running, const Plan& next) {
  try {
    check_host(running, next);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Restart, HasToBeAskedFor) {
  try {
    check_restart({"egress: count", "port b comes"}, false, "/nowhere");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("needs --restart"));
    EXPECT_THAT(error.what(), HasSubstr("\n  port b comes"));
  }
}

TEST(Restart, IsRefusedBeforeAnythingEndsWhereADeviceIsMissing) {
  const Plan now = plan_with("afpacket", "lo"), next = plan_with("afpacket", "nowhere0");
  const std::string error = error_of(now, next);
  EXPECT_THAT(error, HasSubstr("nothing has changed"));
  EXPECT_THAT(error, HasSubstr("interface nowhere0: not there"));
}

TEST(Restart, AsksNothingOfDevicesThatRunAlready) {
  const Plan gone = plan_with("afpacket", "nowhere0");
  EXPECT_EQ(error_of(gone, gone), "");
  EXPECT_EQ(error_of(gone, plan_with("afpacket", "lo")), "");
}

}  // namespace
}  // namespace millrace
