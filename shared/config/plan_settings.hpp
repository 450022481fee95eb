// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/config/plan.hpp"

/// What the settings of a plan say, for what looks at one or two of them.

namespace millrace {

/// The first value of `key`, or `otherwise`.
inline std::string setting_of(const Settings& settings, std::string_view key,
                              std::string_view otherwise = "") {
  for (const auto& [name, value] : settings) {
    if (name == key) return value;
  }
  return std::string(otherwise);
}

/// A whole number that has been checked; 0 for what is none.
inline std::uint32_t whole_number(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Of `route`: its neighbours are those of the kernel behind the ports too.
inline bool follows_kernel_neighbours(const PlanFunction& function) {
  return setting_of(function.settings, "neighbours") == "kernel";
}

/// Of `route`: its table has the kernel's routes.
inline bool follows_kernel(const PlanFunction& function) {
  const Settings::value_type wanted{"routes", "kernel"};
  return std::ranges::find(function.settings, wanted) != function.settings.end();
}

/// Some table is such a one, and a process `routes` changes it in place, unless shared memory has
/// no room for that.
inline bool follows_kernel_in_place(const Plan& plan) {
  return std::ranges::any_of(plan.functions, [](const PlanFunction& function) {
    return !function.gone && follows_kernel(function);
  });
}

/// Number of the GPU that worker `index` of a gpu group drives: the index-th of its `devices`, in
/// turn; 0 without any. Nothing when its software device does the work.
inline std::optional<std::uint32_t> gpu_of_worker(const PlanGroup& group, std::uint32_t index) {
  if (setting_of(group.settings, "device") == "software") return std::nullopt;
  std::vector<std::uint32_t> devices;
  for (const auto& [name, value] : group.settings) {
    if (name == "devices") devices.push_back(whole_number(value));
  }
  return devices.empty() ? 0 : devices[index % devices.size()];
}

}  // namespace millrace
