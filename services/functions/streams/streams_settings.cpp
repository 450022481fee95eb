// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/streams_settings.hpp"

#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kKnown[] = {
    {.name = "folder", .kind = SettingKind::kOutputFile, .required = true},
    {.name = "streams", .kind = SettingKind::kInteger, .low = 1, .high = 1e8},
    {.name = "depth_kb", .kind = SettingKind::kInteger, .low = 0, .high = 1e9},
    {.name = "size_mb", .kind = SettingKind::kInteger, .low = 1, .high = 1e8},
    {.name = "files_max", .kind = SettingKind::kInteger, .low = 1, .high = 1e7},
    {.name = "pickup", .kind = SettingKind::kFlag},
    {.name = "checksums"}};

}  // namespace

std::span<const KnownSetting> known_streams_settings() { return kKnown; }

StreamsSettings streams_settings(const Settings& settings) {
  StreamsSettings read;
  for (const auto& [key, value] : settings) {
    if (key == "folder") {
      read.folder = value;
    } else if (key == "streams") {
      read.streams = setting_number(key, value);
    } else if (key == "depth_kb") {
      read.depth = setting_number(key, value) << 10;
    } else if (key == "size_mb") {
      read.size_max = setting_number(key, value) << 20;
    } else if (key == "files_max") {
      read.files_max = setting_number(key, value);
    } else if (key == "pickup") {
      read.picks_up = setting_flag(key, value);
    } else if (key == "checksums") {
      read.trusts_checksums = setting_is_second(key, value, "check", "trust");
    } else {
      refuse_key("streams", key, kKnown);
    }
  }
  if (read.folder.empty()) throw Error("folder: streams needs one to write to");
  return read;
}

}  // namespace millrace
