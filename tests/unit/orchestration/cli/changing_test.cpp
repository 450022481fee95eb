// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/changing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

std::string printed(const ChangeReply& reply, bool json) {
  testing::internal::CaptureStdout();
  print_change(reply, json);
  return testing::internal::GetCapturedStdout();
}

TEST(Changing, IsPrintedForPeopleAndAsData) {
  const ChangeReply reply{.generation = 4, .lines = {"front: 1 -> 2 workers", "  a\xff"}};
  EXPECT_EQ(printed(reply, false), "front: 1 -> 2 workers\n  a\xff\n");
  const auto json = nlohmann::json::parse(printed(reply, true));
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["generation"], 4);
  EXPECT_EQ(json["done"][0], "front: 1 -> 2 workers");
  EXPECT_EQ(json["done"].size(), 2U) << "bytes that are no text do not stop it";
}

TEST(Changing, NeedsASupervisor) {
  EXPECT_THROW(ask_change("/tmp/millrace-nothing-here", {}), Error);
}

}  // namespace
}  // namespace millrace
