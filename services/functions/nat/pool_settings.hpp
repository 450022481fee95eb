// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "services/functions/nat/port_blocks.hpp"
#include "shared/config/known.hpp"

/// The keys that every function with a pool of outside addresses has (nat_settings()).

namespace millrace {

inline constexpr std::array kPoolSettings = {
    KnownSetting{.name = "inside", .list = true, .required = true},
    KnownSetting{.name = "pool", .list = true, .required = true},
    KnownSetting{.name = "ports"},
    KnownSetting{.name = "block", .kind = SettingKind::kInteger, .low = 2, .high = kPortBlockMax},
    KnownSetting{.name = "filtering"},
    KnownSetting{.name = "host_limit", .kind = SettingKind::kInteger, .low = 0, .high = 1e9},
    KnownSetting{.name = "log"},
    KnownSetting{.name = "max", .kind = SettingKind::kInteger, .low = 1, .high = 1e9}};

/// These, and those of one function.
template <std::size_t N>
constexpr std::array<KnownSetting, kPoolSettings.size() + N> with_pool_settings(
    const std::array<KnownSetting, N>& own) {
  std::array<KnownSetting, kPoolSettings.size() + N> all;
  std::ranges::copy(own, std::ranges::copy(kPoolSettings, all.begin()).out);
  return all;
}

}  // namespace millrace
