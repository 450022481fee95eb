// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

/// Parses all of `text`; false when something is left over or it does not fit.
template <typename Number>
bool parse_all(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

std::string range_text(std::uint64_t min, std::uint64_t max) {
  return std::to_string(min) + ".." + std::to_string(max);
}

std::string range_text(double min, double max) {
  char text[64];
  std::snprintf(text, sizeof(text), "%g..%g", min, max);
  return text;
}

}  // namespace

PortSettings::PortSettings(const PlanPort& port, std::initializer_list<std::string_view> known)
    : port_(port) {
  const std::span<const std::string_view> keys(known.begin(), known.size());
  for (const auto& [key, value] : port.settings) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const std::string near = nearest_of(key, keys);
    refuse("unknown setting '" + key + "'" +
           (near.empty() ? "" : ", did you mean '" + near + "'?") +
           " allowed: " + comma_list(keys));
  }
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
  return values;
}

std::string PortSettings::text(std::string_view key, std::string_view fallback) const {
  const std::vector<std::string> values = list(key);
  if (values.empty()) return std::string(fallback);
  if (values.size() > 1) refuse(key, values[1], "one value");
  if (values[0].empty()) refuse(key, "", "not empty");
  return values[0];
}

std::uint64_t PortSettings::number(std::string_view key, std::uint64_t fallback, std::uint64_t min,
                                   std::uint64_t max) const {
  const std::string value = text(key, std::to_string(fallback));
  std::uint64_t parsed = 0;
  if (!parse_all(value, parsed) || parsed < min || parsed > max) {
    refuse(key, value, range_text(min, max));
  }
  return parsed;
}

std::vector<std::uint64_t> PortSettings::numbers(std::string_view key, std::uint64_t fallback,
                                                 std::uint64_t min, std::uint64_t max) const {
  std::vector<std::uint64_t> parsed;
  for (const std::string& value : list(key)) {
    parsed.push_back(0);
    if (!parse_all(value, parsed.back()) || parsed.back() < min || parsed.back() > max) {
      refuse(key, value, range_text(min, max));
    }
  }
  if (parsed.empty()) parsed.push_back(fallback);
  return parsed;
}

double PortSettings::decimal(std::string_view key, double fallback, double min, double max) const {
  const std::string value = text(key, std::to_string(fallback));
  double parsed = 0;
  if (!parse_all(value, parsed) || !std::isfinite(parsed) || parsed < min || parsed > max) {
    refuse(key, value, range_text(min, max));
  }
  return parsed;
}

bool PortSettings::flag(std::string_view key, bool fallback) const {
  const std::string value = text(key, fallback ? "true" : "false");
  if (value != "true" && value != "false") refuse(key, value, "true, false");
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
