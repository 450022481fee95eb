// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/inspect/inspect_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

TEST(InspectSettings, DefaultsAndValues) {
  const InspectSettings none = inspect_settings({{"rules", "a.rules"}});
  EXPECT_EQ(none.room.streams, 32'768u);
  EXPECT_EQ(none.room.memory_mb, 64u);
  EXPECT_EQ(none.limits.window, 1u << 20);
  EXPECT_EQ(none.limits.depth, 0u);
  EXPECT_FALSE(none.trusts_checksums);
  const InspectSettings all = inspect_settings({{"streams", "10"},
                                                {"memory_mb", "2"},
                                                {"window_kb", "64"},
                                                {"depth_kb", "3"},
                                                {"checksums", "trust"}});
  EXPECT_EQ(all.room.streams, 10u);
  EXPECT_EQ(all.room.memory_mb, 2u);
  EXPECT_EQ(all.limits.window, 65'536u);
  EXPECT_EQ(all.limits.depth, 3072u);
  EXPECT_TRUE(all.trusts_checksums);
}

TEST(InspectSettings, WhatIsWrongIsNamed) {
  const auto error = [](const char* key, const char* value) {
    return test::error_of([&] { inspect_settings({{key, value}}); });
  };
  EXPECT_EQ(error("checksums", "no"), "checksums: 'no' is neither check nor trust");
  EXPECT_EQ(error("streams", "many"), "streams: 'many' is no number");
  EXPECT_THAT(error("stream", "1"), testing::HasSubstr("stream: inspect has no such setting"));
}

}  // namespace
}  // namespace millrace
