// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/inspect/inspect_settings.hpp"

#include <string>

#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr double kDepthMaxKb = 4.0 * 1024 * 1024 - 1;  // in bytes it has 32 bits

constexpr KnownSetting kKnown[] = {
    {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "events", .kind = SettingKind::kFlag},
    {.name = "streams", .kind = SettingKind::kInteger, .low = 1, .high = 1e8},
    {.name = "memory_mb", .kind = SettingKind::kInteger, .low = 1, .high = 1e6},
    {.name = "window_kb", .kind = SettingKind::kInteger, .low = 64, .high = kStreamWindowMax >> 10},
    {.name = "depth_kb", .kind = SettingKind::kInteger, .low = 0, .high = kDepthMaxKb},
    {.name = "checksums"}};

}  // namespace

std::span<const KnownSetting> known_inspect_settings() { return kKnown; }

InspectSettings inspect_settings(const Settings& settings) {
  InspectSettings read;
  for (const auto& [key, value] : settings) {
    if (key == "streams") {
      read.room.streams = setting_number(key, value);
    } else if (key == "memory_mb") {
      read.room.memory_mb = setting_number(key, value);
    } else if (key == "window_kb") {
      read.limits.window = static_cast<std::uint32_t>(setting_number(key, value) << 10);
    } else if (key == "depth_kb") {
      read.limits.depth = static_cast<std::uint32_t>(setting_number(key, value) << 10);
    } else if (key == "checksums") {
      if (value != "check" && value != "trust") {
        throw Error("checksums: '" + value + "' is neither check nor trust");
      }
      read.trusts_checksums = value == "trust";
    } else if (key != "rules" && key != "classes" && key != "events") {
      refuse_key("inspect", key, kKnown);
    }
  }
  return read;
}

}  // namespace millrace
