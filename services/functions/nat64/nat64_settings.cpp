// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/nat64_settings.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "services/functions/nat/nat_ports.hpp"
#include "services/functions/nat/pool_settings.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

struct Parts {
  Settings own, of_nat;
};

/// The keys that are those of `nat`, and the others.
Parts parts_of(const Settings& given) {
  constexpr std::array kOwn = {"prefix", "private"};
  Parts parts;
  for (const auto& [key, value] : given) {
    const bool own = std::ranges::find(kOwn, key) != kOwn.end();
    const auto known = known_nat64_settings();
    if (std::ranges::find(known, key, &KnownSetting::name) == known.end()) {
      refuse_key("nat64", key, known);
    }
    (own ? parts.own : parts.of_nat).emplace_back(key, value);
  }
  return parts;
}

}  // namespace

std::span<const KnownSetting> known_nat64_settings() {
  static constexpr auto kSettings = with_pool_settings(std::array{
      KnownSetting{.name = "prefix"}, KnownSetting{.name = "private", .kind = SettingKind::kFlag}});
  return kSettings;
}

Nat64Settings nat64_settings(const Settings& given) {
  const Parts parts = parts_of(given);
  Nat64Settings settings{.nat = nat_settings(parts.of_nat), .prefix = {}};
  for (const auto& [key, value] : parts.own) {
    if (key == "private") {
      settings.has_private = value == "true";
      continue;
    }
    const auto prefix = Embedding::parse(value);
    if (!prefix) {
      throw Error("prefix: '" + value + "'; expected an IPv6 prefix of length 32, 40, 48, 56, 64 " +
                  "or 96, without bits behind it and with bits 64 to 71 zero, as 64:ff9b::/96");
    }
    settings.prefix = *prefix;
  }
  if (!settings.prefix.is_well_known()) settings.has_private = true;
  return settings;
}

PlanTranslation nat64_translation(const Settings& given, const std::vector<PlanPort>& ports) {
  return nat_translation(parts_of(given).of_nat, ports);
}

}  // namespace millrace
