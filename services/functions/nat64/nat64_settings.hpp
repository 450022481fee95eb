// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "services/functions/nat/nat_settings.hpp"
#include "services/functions/nat64/embedding.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

struct Nat64Settings {
  NatSettings nat;           ///< without `fixed`
  Embedding prefix;          ///< of what stands for IPv4 addresses
  bool has_private = false;  ///< the prefix stands for private addresses too (is_private_ipv4())
};

std::span<const KnownSetting> known_nat64_settings();
/// Throws Error that names the key and the value. With another prefix than the well-known one
/// `has_private` is true.
Nat64Settings nat64_settings(const Settings& settings);
/// What an ingress has to know: as nat_translation().
PlanTranslation nat64_translation(const Settings& settings, const std::vector<PlanPort>& ports);

}  // namespace millrace
