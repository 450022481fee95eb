// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/stream_settings.hpp"

#include "services/functions/setting_values.hpp"

namespace millrace {

bool take_stream_setting(const std::string& key, const std::string& value, StreamSettings into) {
  if (key == "streams") {
    into.room.streams = setting_number(key, value);
  } else if (key == "memory_mb") {
    into.room.memory_mb = setting_number(key, value);
  } else if (key == "window_kb") {
    into.limits.window = setting_kilobytes(key, value);
  } else if (key == "depth_kb") {
    into.limits.depth = setting_kilobytes(key, value);
  } else if (key == "checksums") {
    into.trusts_checksums = setting_is_second(key, value, "check", "trust");
  } else {
    return false;
  }
  return true;
}

}  // namespace millrace
