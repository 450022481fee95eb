// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

/// Values of a function's settings. The loader has checked ranges by KnownSetting; `millrace try`
/// and tests give text that it has not seen. Throw Error that names the key and the value.

namespace millrace {

std::uint64_t setting_number(const std::string& key, const std::string& value);
/// "true" or "false".
bool setting_flag(const std::string& key, const std::string& value);

/// Of a setting with two words: is it the second one?
bool setting_is_second(const std::string& key, const std::string& value, std::string_view first,
                       std::string_view second);
/// In bytes. The loader has checked that they have 32 bits.
std::uint32_t setting_kilobytes(const std::string& key, const std::string& value);

/// One list of several.
template <std::size_t... kCounts>
constexpr auto joined_settings(const KnownSetting (&... lists)[kCounts]) {
  std::array<KnownSetting, (kCounts + ...)> all{};
  std::size_t at = 0;
  const auto add = [&](const auto& list) {
    for (const KnownSetting& known : list) all[at++] = known;
  };
  (add(lists), ...);
  return all;
}

/// Function `type` knows `known`, and `key` is none of these.
[[noreturn]] void refuse_key(std::string_view type, const std::string& key,
                             std::span<const KnownSetting> known);
/// Refuses each key that is not one of `known`. `classes` is one of a function's own where it sets
/// any.
void check_keys(const PlanFunction& function, std::span<const KnownSetting> known,
                bool sets_classes = false);

}  // namespace millrace
