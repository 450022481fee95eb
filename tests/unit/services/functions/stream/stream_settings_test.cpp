// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_settings.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"

namespace millrace::stream_settings_test {
namespace {

struct Taken {
  StreamRoom room;
  StreamLimits limits;
  bool trusts_checksums = false;
  bool take(const std::string& key, const std::string& value) {
    return take_stream_setting(key, value, {room, limits, trusts_checksums});
  }
};

TEST(StreamSettings, EachSettingThatIsKnownIsTaken) {
  for (const KnownSetting& known : kStreamSettings) {
    Taken taken;
    const std::string value = known.kind == SettingKind::kInteger ? "64" : "trust";
    EXPECT_TRUE(taken.take(std::string(known.name), value)) << known.name;
  }
  EXPECT_FALSE(Taken().take("rules", "64"));
}

TEST(StreamSettings, KilobytesAreBytesInTheLimits) {
  Taken taken;
  taken.take("streams", "7");
  taken.take("memory_mb", "9");
  taken.take("window_kb", "128");
  taken.take("depth_kb", "4194303");
  taken.take("checksums", "trust");
  EXPECT_EQ(taken.room.streams, 7u);
  EXPECT_EQ(taken.room.memory_mb, 9u);
  EXPECT_EQ(taken.limits.window, 131'072u);
  EXPECT_EQ(taken.limits.depth, 4'294'966'272u);
  EXPECT_TRUE(taken.trusts_checksums);
  taken.take("checksums", "check");
  EXPECT_FALSE(taken.trusts_checksums);
}

TEST(StreamSettings, OtherValuesAreRefused) {
  EXPECT_THROW(Taken().take("streams", "many"), Error);
  EXPECT_THROW(Taken().take("checksums", "yes"), Error);
}

}  // namespace
}  // namespace millrace::stream_settings_test
