// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/acl/acl_rule.hpp"
#include "shared/config/plan.hpp"

/// The settings of `acl` that choose among words; its files are read by the builder.

namespace millrace {

enum class AclMethod : std::uint8_t { kAuto, kTries, kBits };

struct AclSettings {
  bool default_drops = false;  ///< IP packets that match no rule, or an alert
  bool non_ip_drops = false;
  AclMethod method = AclMethod::kAuto;  ///< of the CPU
  std::uint32_t reject_rate = 1000;  ///< answers a second of a worker, 0..1,000,000; 0: any number
};

/// Throws Error that names a setting with a value that is not allowed.
AclSettings acl_settings(const PlanFunction& function);

/// A packet whose first rule this is will be dropped.
constexpr bool acl_drops(const AclRule& rule, bool default_drops) {
  if (rule.action == static_cast<std::uint8_t>(AclAction::kAlert)) return default_drops;
  return rule.action == static_cast<std::uint8_t>(AclAction::kDrop) ||
         rule.action == static_cast<std::uint8_t>(AclAction::kReject);
}

}  // namespace millrace
