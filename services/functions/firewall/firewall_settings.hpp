// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/firewall/firewall_rules.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

struct FirewallSettings {
  bool default_passes = false;  ///< IP packets that match no rule
  bool non_ip_passes = false;
  bool of_kernel = false;            ///< rules are those of nft or iptables about what is forwarded
  std::uint32_t reject_rate = 1000;  ///< answers a second of a worker; 0: any number
  std::uint32_t sources = 65'536;    ///< that limits know at a time: counts of connections in all
                                     ///< lanes together, rates in each worker
  std::uint32_t proxied = 16'384;    ///< connections of synproxy at a time, in all lanes together
};

/// rules, nft, iptables, ip6tables, default, non_ip, reject_rate, sources, proxied.
std::span<const KnownSetting> known_firewall_settings();

/// Throws Error that names the key.
FirewallSettings firewall_settings(const PlanFunction& function);

/// FirewallSettings::sources alone. Throws Error that names the key.
std::uint32_t firewall_sources(const Settings& settings);
/// FirewallSettings::proxied alone; likewise.
std::uint32_t firewall_proxied(const Settings& settings);

/// The settings say where rules come from, and the files can be opened here. Throws Error.
void check_firewall_files(const PlanFunction& function);

/// All rules of the function's files, in the order in which they are tried. Throws Error.
FirewallRules load_firewall_files(const PlanFunction& function, std::span<const PlanPort> ports);

enum class FirewallWord : std::uint8_t { kLog, kReject, kSynproxy, kCount };
/// The first file with that word as its own language has it; empty: none. It does not parse them.
std::string check_firewall_files_for(FirewallWord word, const PlanFunction& function);

}  // namespace millrace
