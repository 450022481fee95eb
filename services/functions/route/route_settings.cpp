// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_settings.hpp"

#include <string>
#include <utility>

#include "services/functions/rate.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kSettings[] = {
    {.name = "table",
     .kind = SettingKind::kInputFile,
     .list = true,
     .required = true,
     .unless = "routes"},
    {.name = "routes"},
    {.name = "neighbours"},
    {.name = "answers", .kind = SettingKind::kFlag},
    {.name = "icmp_rate", .kind = SettingKind::kInteger, .low = 0, .high = 1e6},
    {.name = "punt_rate", .kind = SettingKind::kInteger, .low = 0, .high = 1e6},
    {.name = "proxy_arp", .list = true},
    {.name = "advertise", .list = true}};

}  // namespace

std::span<const KnownSetting> known_route_settings() { return kSettings; }

RouteSettings route_settings(const PlanFunction& function) {
  RouteSettings settings;
  bool has_table = false;
  for (const auto& [key, value] : function.settings) {
    if (key == "table") {
      if (value.empty()) throw Error("table: the path of a route table is expected");
      has_table = true;
    } else if (key == "answers") {
      settings.answers = setting_flag(key, value);
    } else if (key == "icmp_rate") {
      settings.icmp_rate = parse_rate(key, value);
    } else if (key == "punt_rate") {
      settings.punt_rate = parse_rate(key, value);
    } else if (key == "routes") {
      if (value != "kernel") throw Error("routes is '" + value + "'; expected 'kernel'");
      settings.follows_kernel = true;
    } else if (key == "neighbours") {
      if (value != "kernel") throw Error("neighbours is '" + value + "'; expected 'kernel'");
      settings.follows_neighbours = true;
    } else if (key == "proxy_arp") {
      settings.proxy_arp.push_back(value);
    } else if (key == "advertise") {
      settings.advertise.push_back(value);
    } else {
      refuse_key("route", key, kSettings);
    }
  }
  if (!has_table && !settings.follows_kernel) {
    throw Error("table is missing: the path of a route table, or 'routes: kernel'");
  }
  if (settings.follows_kernel && !settings.answers) {
    throw Error(
        "routes is 'kernel', whose next hops have to be asked for; 'answers: false' rules "
        "that out");
  }
  if (settings.follows_neighbours && !settings.answers) {
    throw Error("neighbours is 'kernel', but a route with 'answers: false' has none");
  }
  for (const auto& [key, ports] :
       {std::pair{"proxy_arp", &settings.proxy_arp}, {"advertise", &settings.advertise}}) {
    if (!settings.answers && !ports->empty()) {
      throw Error(std::string(key) + ": a route with 'answers: false' answers nothing");
    }
  }
  return settings;
}

}  // namespace millrace
