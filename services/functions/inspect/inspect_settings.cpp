// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/inspect/inspect_settings.hpp"

#include <string>

#include "services/functions/setting_values.hpp"
#include "services/functions/stream/stream_settings.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kOwn[] = {
    {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "events", .kind = SettingKind::kFlag}};
constexpr auto kKnown = joined_settings(kOwn, kStreamSettings);

}  // namespace

std::span<const KnownSetting> known_inspect_settings() { return kKnown; }

InspectSettings inspect_settings(const Settings& settings) {
  InspectSettings read;
  for (const auto& [key, value] : settings) {
    if (take_stream_setting(key, value, {read.room, read.limits, read.trusts_checksums})) continue;
    if (key != "rules" && key != "classes" && key != "events") refuse_key("inspect", key, kKnown);
  }
  return read;
}

}  // namespace millrace
