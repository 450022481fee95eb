// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "services/functions/nat/nat_settings.hpp"
#include "shared/config/plan.hpp"

/// What the settings say of the ports of a topology.

namespace millrace {

/// The settings, with the address of `masquerade` in the pool. Throws Error as nat_settings() does,
/// and where `masquerade` or `hairpin` names no port or one that cannot be that, or an address of a
/// port is an outside one by another key.
NatSettings nat_settings_at(const Settings& settings, std::span<const PlanPort> ports);
/// What an ingress has to know. Throws Error likewise, and where `inside` names no port.
PlanTranslation nat_translation(const Settings& settings, const std::vector<PlanPort>& ports);

}  // namespace millrace
