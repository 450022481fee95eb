// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "services/functions/stream/stream_lane.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "shared/config/known.hpp"

namespace millrace {

inline constexpr double kStreamDepthMaxKb = 4.0 * 1024 * 1024 - 1;  ///< in bytes it has 32 bits

/// What every function has that looks at byte streams of TCP in a room of its own.
inline constexpr KnownSetting kStreamSettings[] = {
    {.name = "streams", .kind = SettingKind::kInteger, .low = 1, .high = 1e8},
    {.name = "memory_mb", .kind = SettingKind::kInteger, .low = 1, .high = 1e6},
    {.name = "window_kb", .kind = SettingKind::kInteger, .low = 64, .high = kStreamWindowMax >> 10},
    {.name = "depth_kb", .kind = SettingKind::kInteger, .low = 0, .high = kStreamDepthMaxKb},
    {.name = "checksums"}};

/// Where their values go.
struct StreamSettings {
  StreamRoom& room;
  StreamLimits& limits;
  bool& trusts_checksums;
};

/// False: the key is none of kStreamSettings. Throws Error that names key and value.
bool take_stream_setting(const std::string& key, const std::string& value, StreamSettings into);

}  // namespace millrace
