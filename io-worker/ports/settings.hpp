// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// The settings of one port, read with their ranges. Every Error names the port, its device, the
/// setting, what was found and what is allowed. Borrows the PlanPort. Start-up only.
class PortSettings {
 public:
  /// `known`: every key that the device has. Throws Error for any other key, with the nearest known
  /// one.
  PortSettings(const PlanPort& port, std::initializer_list<std::string_view> known);

  bool has(std::string_view key) const;
  /// The value, or `fallback`. Throws Error for a key given twice or an empty value.
  std::string text(std::string_view key, std::string_view fallback) const;
  /// A decimal integer in [min, max].
  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t min,
                       std::uint64_t max) const;
  /// Every value of a key that may be a list, each in [min, max]; `fallback` alone when absent.
  std::vector<std::uint64_t> numbers(std::string_view key, std::uint64_t fallback,
                                     std::uint64_t min, std::uint64_t max) const;
  /// A decimal fraction in [min, max].
  double decimal(std::string_view key, double fallback, double min, double max) const;
  /// "true" or "false".
  bool flag(std::string_view key, bool fallback) const;
  /// Every value of a key that may be a list, in the order of the file.
  std::vector<std::string> list(std::string_view key) const;

  /// Throws Error: "port 'lan' (pcap): <key> is '<found>'; allowed: <allowed>".
  [[noreturn]] void refuse(std::string_view key, std::string_view found,
                           std::string_view allowed) const;
  /// Throws Error: "port 'lan' (pcap): <what>".
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  const PlanPort& port_;
};

}  // namespace millrace
