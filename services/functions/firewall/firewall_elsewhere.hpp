// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "services/functions/firewall/firewall_chains.hpp"

/// Forwarded packets pass other hooks of the kernel beside `forward`: prerouting, postrouting,
/// ingress. Their rules are not taken, so none of them may drop a packet.

namespace millrace {

/// A chain of such a hook.
struct ChainElsewhere {
  std::string name, hook;  ///< the hook for messages
  bool passes = true;      ///< its policy
};

/// Throws Error when the policy of `base`, one of its rules, or one of a chain that it jumps to
/// drops packets, or may. `file`: for messages.
void refuse_drops_elsewhere(const FirewallChains& chains, const ChainElsewhere& base,
                            const std::string& file);

}  // namespace millrace
