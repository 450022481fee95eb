// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// The settings of one port, read with the ranges and defaults of its device's keys
/// (shared/config/known_devices.hpp). Every Error names the port, its device, the setting, what was
/// found and what is allowed. Borrows the PlanPort. Start-up only.
class PortSettings {
 public:
  /// Throws Error for a key that the device does not have, with the nearest known one.
  explicit PortSettings(const PlanPort& port);
  /// Likewise, with these keys.
  PortSettings(const PlanPort& port, std::span<const KnownSetting> known);

  bool has(std::string_view key) const;
  /// The value, or the default. Throws Error for a key given twice or an empty value.
  std::string text(std::string_view key) const;
  /// A whole number, of the key's range and at least `min`; 0 without value and default.
  std::uint64_t number(std::string_view key, std::uint64_t min = 0) const;
  /// Likewise of a key whose range fits.
  std::uint32_t count(std::string_view key, std::uint32_t min = 0) const {
    const std::uint64_t value = number(key, min);
    MILLRACE_CHECK(value <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(value);
  }
  /// Every value of a key that may be a list, each of the key's range and at least `min`.
  std::vector<std::uint64_t> numbers(std::string_view key, std::uint64_t min) const;
  /// A decimal fraction of the key's range.
  double decimal(std::string_view key) const;
  /// "true" or "false".
  bool flag(std::string_view key) const;
  /// Every value of a key that may be a list, in the order of the file; without any the default.
  std::vector<std::string> list(std::string_view key) const;

  /// Throws Error: "port 'lan' (pcap): <key> is '<found>'; allowed: <allowed>".
  [[noreturn]] void refuse(std::string_view key, std::string_view found,
                           std::string_view allowed) const;
  /// Throws Error: "port 'lan' (pcap): <what>".
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  const KnownSetting& row(std::string_view key) const;

  const PlanPort& port_;
  std::span<const KnownSetting> known_;
};

}  // namespace millrace
