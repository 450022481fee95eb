// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"
#include "shared/config/known_devices.hpp"

namespace millrace {
namespace {

/// Parses all of `text`; false when something is left over or it does not fit.
template <typename Number>
bool parse_all(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

std::string range_text(std::uint64_t min, double max) {
  return std::to_string(min) + ".." + std::to_string(static_cast<std::uint64_t>(max));
}

std::span<const KnownSetting> settings_of(const PlanPort& port) {
  const KnownDevice* const device = known_device(port.device);
  MILLRACE_CHECK(device != nullptr);
  return device->settings;
}

}  // namespace

PortSettings::PortSettings(const PlanPort& port) : PortSettings(port, settings_of(port)) {}

PortSettings::PortSettings(const PlanPort& port, std::span<const KnownSetting> known)
    : port_(port), known_(known) {
  std::vector<std::string_view> keys;
  for (const KnownSetting& setting : known) keys.push_back(setting.name);
  for (const auto& [key, value] : port.settings) {
    if (known_setting(known, key) != nullptr) continue;
    const std::string near = nearest_of(key, keys);
    refuse("unknown setting '" + key + "'" +
           (near.empty() ? "" : ", did you mean '" + near + "'?") +
           " allowed: " + comma_list(keys));
  }
}

const KnownSetting& PortSettings::row(std::string_view key) const {
  const KnownSetting* const known = known_setting(known_, key);
  MILLRACE_CHECK(known != nullptr);
  return *known;
}

bool PortSettings::has(std::string_view key) const {
  return std::any_of(port_.settings.begin(), port_.settings.end(),
                     [&](const auto& setting) { return setting.first == key; });
}

std::vector<std::string> PortSettings::list(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : port_.settings) {
    if (name == key) values.push_back(value);
  }
  const std::string_view otherwise = row(key).otherwise;
  if (values.empty() && !otherwise.empty()) values.emplace_back(otherwise);
  return values;
}

std::string PortSettings::text(std::string_view key) const {
  const std::vector<std::string> values = list(key);
  if (values.empty()) return "";
  if (values.size() > 1) refuse(key, values[1], "one value");
  if (values[0].empty()) refuse(key, "", "not empty");
  return values[0];
}

std::uint64_t PortSettings::number(std::string_view key, std::uint64_t min) const {
  text(key);  // refuses two
  const std::vector<std::uint64_t> values = numbers(key, min);
  return values.empty() ? 0 : values[0];
}

std::vector<std::uint64_t> PortSettings::numbers(std::string_view key, std::uint64_t min) const {
  const KnownSetting& known = row(key);
  const std::uint64_t low = std::max(min, static_cast<std::uint64_t>(known.low));
  std::vector<std::uint64_t> parsed;
  for (const std::string& value : list(key)) {
    parsed.push_back(0);
    if (!parse_all(value, parsed.back()) || parsed.back() < low ||
        static_cast<double>(parsed.back()) > known.high) {
      refuse(key, value, range_text(low, known.high));
    }
  }
  return parsed;
}

double PortSettings::decimal(std::string_view key) const {
  const KnownSetting& known = row(key);
  const std::string value = text(key);
  double parsed = 0;
  if (value.empty()) return parsed;
  if (!parse_all(value, parsed) || !std::isfinite(parsed) || parsed < known.low ||
      parsed > known.high) {
    char range[64];
    std::snprintf(range, sizeof(range), "%g..%g", known.low, known.high);
    refuse(key, value, range);
  }
  return parsed;
}

bool PortSettings::flag(std::string_view key) const {
  const std::string value = text(key);
  if (!value.empty() && value != "true" && value != "false") refuse(key, value, "true, false");
  return value == "true";
}

void PortSettings::refuse(std::string_view key, std::string_view found,
                          std::string_view allowed) const {
  refuse(std::string(key) + " is '" + std::string(found) + "'; allowed: " + std::string(allowed));
}

void PortSettings::refuse(std::string_view what) const {
  throw Error("port '" + port_.name + "' (" + port_.device + "): " + std::string(what));
}

}  // namespace millrace
