// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_settings.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "services/functions/setting_values.hpp"
#include "services/functions/stream/stream_settings.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr double kBodyMaxKb = 16.0 * 1024;
constexpr double kInflateLayersMax = 4;
constexpr double kAlertBytesMax = 1514;
constexpr double kAlertsMax = 65'535;

constexpr KnownSetting kOwn[] = {
    {.name = "rules", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "variables", .list = true},
    {.name = "classification", .kind = SettingKind::kInputFile},
    {.name = "thresholds", .kind = SettingKind::kInputFile},
    {.name = "mode"},
    {.name = "action_order", .list = true},
    {.name = "learn", .kind = SettingKind::kFlag},
    {.name = "events", .kind = SettingKind::kFlag},
    {.name = "log", .list = true},
    {.name = "alert_app", .kind = SettingKind::kFlag},
    {.name = "alert_payload", .kind = SettingKind::kInteger, .low = 0, .high = kAlertBytesMax},
    {.name = "alert_packet", .kind = SettingKind::kInteger, .low = 0, .high = kAlertBytesMax},
    {.name = "alerts_max", .kind = SettingKind::kInteger, .low = 0, .high = kAlertsMax},
    {.name = "parser_mb", .kind = SettingKind::kInteger, .low = 1, .high = 1e6},
    {.name = "history_kb",
     .kind = SettingKind::kInteger,
     .low = 1,
     .high = kStreamHistoryMax >> 10},
    {.name = "body_kb", .kind = SettingKind::kInteger, .low = 1, .high = kBodyMaxKb},
    {.name = "inflate_layers", .kind = SettingKind::kInteger, .low = 0, .high = kInflateLayersMax},
    {.name = "unreadable"},
    {.name = "fragments"},
    {.name = "overlaps", .list = true}};
constexpr auto kKnown = joined_settings(kOwn, kStreamSettings);

FragmentUse fragment_use(const std::string& key, const std::string& value) {
  if (value == "assemble") return FragmentUse::kAssemble;
  if (value == "drop") return FragmentUse::kDrop;
  if (value == "pass") return FragmentUse::kPass;
  throw Error(key + ": '" + value + "' is none of assemble, drop, pass");
}

std::pair<std::string, std::string> variable_of(const std::string& value) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const std::size_t equals = std::min(value.find('='), value.size());
  const std::string name = value.substr(0, equals);
  if (equals + 1 >= value.size() || name.empty() ||
      name.find_first_not_of(kLetters) != std::string::npos) {
    throw Error("variables: '" + value + "' is not NAME=VALUE");
  }
  return {name, value.substr(equals + 1)};
}

void choose(const std::string& value, IdsLogChoice& log) {
  const std::pair<std::string_view, bool*> choices[] = {
      {"http", &log.http}, {"dns", &log.dns},   {"tls", &log.tls},        {"ssh", &log.ssh},
      {"smtp", &log.smtp}, {"drop", &log.drop}, {"anomaly", &log.anomaly}};
  const auto* const chosen =
      std::ranges::find(choices, value, [](const auto& choice) { return choice.first; });
  if (chosen == std::end(choices)) {
    throw Error("log: '" + value + "' is none of http, dns, tls, ssh, smtp, drop, anomaly");
  }
  *chosen->second = true;
}

/// All values of `action_order`; none: Suricata's default.
ActionOrder actions_of(const Settings& settings) {
  constexpr std::array<std::string_view, kActionOrder.size()> kNames = {"pass", "drop", "reject",
                                                                        "alert"};
  ActionOrder actions = kActionOrder;
  std::size_t count = 0;
  std::set<std::size_t> named;
  for (const auto& [key, value] : settings) {
    if (key != "action_order") continue;
    const auto place = static_cast<std::size_t>(std::ranges::find(kNames, value) - kNames.begin());
    if (place == kNames.size()) {
      throw Error(key + ": '" + value + "' is none of pass, drop, reject, alert");
    }
    if (!named.insert(place).second) throw Error(key + ": '" + value + "' stands there twice");
    actions[count++] = kActionOrder[place];
  }
  if (count != 0 && count != actions.size()) {
    throw Error("action_order: it names each of pass, drop, reject and alert");
  }
  return actions;
}

void refuse_overlaps_of_ips(const Settings& settings, const IdsSettings& read) {
  if (read.only_watches) return;
  for (const auto& [key, value] : settings) {
    if (key == "overlaps") {
      throw Error(key + " is '" + value + "': of mode ids; in mode ips one version alone arrives");
    }
  }
}

/// False: it is none of these.
bool take_size(const std::string& key, const std::string& value, IdsSettings& read) {
  if (key == "parser_mb") {
    read.parser_mb = setting_number(key, value);
  } else if (key == "history_kb") {
    read.limits.history = setting_kilobytes(key, value);
  } else if (key == "body_kb") {
    read.app.body_bytes = setting_kilobytes(key, value);
  } else if (key == "alert_payload") {
    read.alert_payload = static_cast<std::uint32_t>(setting_number(key, value));
  } else if (key == "alert_packet") {
    read.alert_packet = static_cast<std::uint32_t>(setting_number(key, value));
  } else if (key == "alerts_max") {
    read.alerts_max = static_cast<std::uint32_t>(setting_number(key, value));
  } else if (key == "inflate_layers") {
    read.app.inflate_layers = static_cast<std::uint32_t>(setting_number(key, value));
  } else {
    return false;
  }
  return true;
}

/// Likewise.
bool take_word(const std::string& key, const std::string& value, IdsSettings& read) {
  if (key == "fragments") {
    read.fragments = fragment_use(key, value);
  } else if (key == "mode") {
    read.only_watches = setting_is_second(key, value, "ips", "ids");
  } else if (key == "unreadable") {
    read.drops_unreadable = !setting_is_second(key, value, "drop", "pass");
  } else if (key == "learn") {
    read.learns = setting_flag(key, value);
  } else if (key == "events") {
    read.tells = setting_flag(key, value);
  } else if (key == "alert_app") {
    read.alert_app = setting_flag(key, value);
  } else if (key == "log") {
    choose(value, read.log);
  } else if (key == "overlaps") {
    read.overlaps.add(value);
  } else if (key == "variables") {
    read.variables.push_back(variable_of(value));
  } else if (key == "classification") {
    read.classification = value;
  } else if (key == "thresholds") {
    read.thresholds = value;
  } else {
    return key == "rules" || key == "action_order";
  }
  return true;
}

}  // namespace

std::span<const KnownSetting> known_ids_settings() { return kKnown; }

IdsSettings ids_settings(const Settings& settings) {
  IdsSettings read;
  for (const auto& [key, value] : settings) {
    const bool is_known =
        take_stream_setting(key, value, {read.room, read.limits, read.trusts_checksums}) ||
        take_size(key, value, read) || take_word(key, value, read);
    if (!is_known) refuse_key("ids", key, kKnown);
  }
  read.actions = actions_of(settings);
  refuse_overlaps_of_ips(settings, read);
  read.limits.fast_open = read.limits.skips = read.only_watches;
  read.app.keeps_messages = read.log.dns || read.alert_app;
  read.app.keeps_envelopes = read.log.smtp || read.alert_app;
  return read;
}

}  // namespace millrace
