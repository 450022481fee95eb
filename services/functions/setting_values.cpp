// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/setting_values.hpp"

#include <charconv>

#include "shared/base/error.hpp"

namespace millrace {

std::uint64_t setting_number(const std::string& key, const std::string& value) {
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || at != end) throw Error(key + ": '" + value + "' is no number");
  return number;
}

bool setting_flag(const std::string& key, const std::string& value) {
  if (value != "true" && value != "false") {
    throw Error(key + ": '" + value + "' is neither true nor false");
  }
  return value == "true";
}

bool setting_is_second(const std::string& key, const std::string& value, std::string_view first,
                       std::string_view second) {
  if (value != first && value != second) {
    throw Error(key + ": '" + value + "' is neither " + std::string(first) + " nor " +
                std::string(second));
  }
  return value == second;
}

std::uint32_t setting_kilobytes(const std::string& key, const std::string& value) {
  return static_cast<std::uint32_t>(setting_number(key, value) << 10);
}

void refuse_key(std::string_view type, const std::string& key,
                std::span<const KnownSetting> known) {
  std::string names;
  for (const KnownSetting& one : known) {
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  throw Error(key + ": " + std::string(type) + " has no such setting; there are " + names);
}

void check_keys(const PlanFunction& function, std::span<const KnownSetting> known,
                bool sets_classes) {
  for (const auto& [key, value] : function.settings) {
    const bool is_classes = sets_classes && key == "classes";
    if (!is_classes && known_setting(known, key) == nullptr) refuse_key(function.type, key, known);
  }
}

}  // namespace millrace
