// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/functions/firewall/firewall_rules.hpp"

namespace millrace {

/// What `-m limit`, `-m hashlimit` and `-m connlimit` of one line of iptables-save say. All throw
/// AclRefusal for what is not understood.
class IptablesLimits {
 public:
  /// `family`: kAclIpv4 or kAclIpv6.
  explicit IptablesLimits(std::uint8_t family) : family_(family) {}

  /// `-m NAME`. False: it is none of these.
  bool note_match(const std::string& name);
  /// An option without a value that changes nothing.
  static bool is_flag(const std::string& option);
  /// False: it is no option of these.
  bool read(const std::string& option, const std::string& value);
  /// A rule that matches everything within the limits.
  AclRule read_all() const;

 private:
  bool read_connections(const std::string& option, const std::string& value);
  void set_rate(AclRule& rule) const;
  void set_bits(std::optional<std::uint32_t> mask, std::uint8_t (&bits)[2]) const noexcept;
  std::uint32_t mask_of(const std::string& value) const;
  std::uint32_t whole_address() const { return family_ == kAclIpv4 ? 32 : 128; }

  std::uint8_t family_;
  std::string match_;  ///< the one of rates: limit, hashlimit, or none
  std::string rate_, name_, mode_;
  std::uint32_t burst_ = 5;
  bool rate_over_ = false;
  bool has_connlimit_ = false, connections_over_ = false;
  std::optional<std::uint32_t> connections_;
  bool per_source_ = true;  ///< of connections
  std::optional<std::uint32_t> rate_mask_, connections_mask_;
};

}  // namespace millrace
