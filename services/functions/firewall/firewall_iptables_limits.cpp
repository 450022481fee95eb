// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/firewall_iptables_limits.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "services/functions/acl/acl_words.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

/// How the kernel keeps its table.
bool is_no_matter(const std::string& option) {
  constexpr std::array<std::string_view, 4> kNone = {
      "--hashlimit-htable-size", "--hashlimit-htable-max", "--hashlimit-htable-expire",
      "--hashlimit-htable-gcinterval"};
  return std::ranges::find(kNone, option) != kNone.end();
}

}  // namespace

bool IptablesLimits::note_match(const std::string& name) {
  if (name == "connlimit") {
    if (has_connlimit_) throw AclRefusal{"two limits of connections"};
    has_connlimit_ = true;
    return true;
  }
  if (name != "limit" && name != "hashlimit") return false;
  if (!match_.empty()) throw AclRefusal{"two limits"};
  match_ = name;
  if (name == "limit") rate_ = "3/hour";  // unless --limit says it
  return true;
}

bool IptablesLimits::is_flag(const std::string& option) { return option == "--connlimit-saddr"; }

bool IptablesLimits::read(const std::string& option, const std::string& value) {
  if (option.starts_with("--connlimit-")) return read_connections(option, value);
  const bool of_hashlimit = option.starts_with("--hashlimit");
  if (!of_hashlimit && !option.starts_with("--limit")) return false;
  if (match_ != (of_hashlimit ? "hashlimit" : "limit")) return false;
  if (option == "--limit" || option == "--hashlimit-upto" || option == "--hashlimit-above") {
    rate_ = value;
    rate_over_ = option == "--hashlimit-above";
  } else if (option == "--limit-burst" || option == "--hashlimit-burst") {
    burst_ = acl_number(value, UINT32_MAX, "burst");
  } else if (option == "--hashlimit-mode") {
    mode_ = value;
  } else if (option == "--hashlimit-name") {
    name_ = value;
  } else if (option == "--hashlimit-srcmask") {
    rate_mask_ = mask_of(value);
    if (*rate_mask_ == 0) throw AclRefusal{"--hashlimit-srcmask 0"};
  } else {
    return is_no_matter(option);
  }
  return true;
}

bool IptablesLimits::read_connections(const std::string& option, const std::string& value) {
  if (!has_connlimit_) return false;
  if (option == "--connlimit-above" || option == "--connlimit-upto") {
    if (connections_) throw AclRefusal{"two limits of connections"};
    connections_ = acl_number(value, UINT32_MAX, "connections");
    connections_over_ = option == "--connlimit-above";
  } else if (option == "--connlimit-mask") {
    connections_mask_ = mask_of(value);
    per_source_ = *connections_mask_ != 0;
  } else {
    return false;
  }
  return true;
}

std::uint32_t IptablesLimits::mask_of(const std::string& value) const {
  return acl_number(value, whole_address(), "mask");
}

/// Of AclRule.
void IptablesLimits::set_bits(std::optional<std::uint32_t> mask,
                              std::uint8_t (&bits)[2]) const noexcept {
  if (!mask || *mask == whole_address()) return;
  bits[family_ == kAclIpv4 ? 0 : 1] = static_cast<std::uint8_t>(*mask);
}

/// "10/sec", as iptables-save writes it.
void IptablesLimits::set_rate(AclRule& rule) const {
  using Unit = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Unit, 4> kUnits = {
      {{"sec", "second"}, {"min", "minute"}, {"hour", "hour"}, {"day", "day"}}};
  const std::string_view rate = rate_;
  const std::size_t slash = std::min(rate.find('/'), rate.size());
  const auto* const unit =
      std::ranges::find(kUnits, rate.substr(std::min(slash + 1, rate.size())), &Unit::first);
  if (unit == kUnits.end()) throw AclRefusal{"--" + match_ + " " + quoted_word(rate_)};
  const std::uint32_t count = acl_number(rate.substr(0, slash), UINT32_MAX, "limit");
  std::uint8_t bits = rate_over_ ? kRuleRateOver : 0;
  if (match_ == "hashlimit") {
    if (mode_ != "srcip") throw AclRefusal{"--hashlimit-mode " + quoted_word(mode_)};
    bits |= kRuleRatePerSource;
    set_bits(rate_mask_, rule.rate_bits);
    rule.limit_group = firewall_group("hashlimit " + name_);
  }
  firewall_set_limit(count, unit->second, burst_, bits, rule);
}

AclRule IptablesLimits::read_all() const {
  AclRule rule = firewall_any();
  rule.families = family_;
  if (!match_.empty()) set_rate(rule);
  if (!has_connlimit_) return rule;
  if (!connections_) throw AclRefusal{"-m connlimit without a number"};
  std::uint8_t bits = connections_over_ ? kRuleConnectionsOver : 0;
  if (per_source_) {
    bits |= kRuleConnectionsPerSource;
    set_bits(connections_mask_, rule.connection_bits);
  }
  firewall_set_connections(*connections_, bits, rule);
  return rule;
}

}  // namespace millrace
