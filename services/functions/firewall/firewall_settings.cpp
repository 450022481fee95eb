// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall_settings.hpp"

#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "services/functions/firewall/connection_counts.hpp"
#include "services/functions/firewall/firewall_chains.hpp"
#include "services/functions/firewall/proxied_flows.hpp"
#include "services/functions/rate.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/text_file.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::array kSettings = {
    KnownSetting{.name = "rules", .kind = SettingKind::kInputFile, .list = true},
    KnownSetting{.name = "nft", .kind = SettingKind::kInputFile},
    KnownSetting{.name = "iptables", .kind = SettingKind::kInputFile},
    KnownSetting{.name = "ip6tables", .kind = SettingKind::kInputFile},
    KnownSetting{.name = "default"},
    KnownSetting{.name = "non_ip"},
    KnownSetting{.name = "reject_rate"},
    KnownSetting{.name = "sources",
                 .kind = SettingKind::kInteger,
                 .low = 1,
                 .high = ConnectionCounts::kSourcesMax},
    KnownSetting{.name = "proxied",
                 .kind = SettingKind::kInteger,
                 .low = 1,
                 .high = ProxiedFlows::kFlowsMax}};
constexpr std::array<std::string_view, 4> kFiles = {"rules", "nft", "iptables", "ip6tables"};

bool passes(const PlanFunction& function, std::string_view key) {
  bool passes = false;
  for (const std::string& value : values_of(function, key)) {
    if (value != "pass" && value != "drop") {
      throw Error(std::string(key) + " is '" + value + "'; allowed: pass, drop");
    }
    passes = value == "pass";
  }
  return passes;
}

/// 1 to `most`; without the key `number`.
std::uint32_t number_of(const Settings& settings, std::string_view name, std::uint32_t number,
                        std::uint32_t most) {
  for (const auto& [key, value] : settings) {
    if (key != name) continue;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || stop != end || number == 0 || number > most) {
      throw Error(std::string(name) + ": '" + value + "'; expected 1 to " + std::to_string(most));
    }
  }
  return number;
}

bool has(const PlanFunction& function, std::string_view key) {
  return !values_of(function, key).empty();
}

std::vector<FirewallPort> ports_of(std::span<const PlanPort> ports) {
  std::vector<FirewallPort> out;
  for (const PlanPort& port : ports) {
    FirewallPort& one = out.emplace_back(FirewallPort{.name = port.name, .interface = {}});
    for (const auto& [key, value] : port.settings) {
      if (key == "interface") one.interface = value;
    }
  }
  return out;
}

void append(FirewallRules more, const std::string& path, FirewallRules& to) {
  if (to.rules.size() + more.rules.size() > kAclRuleCountMax) {
    throw Error("rules: more than " + std::to_string(kAclRuleCountMax) + " rules");
  }
  to.files.push_back({path, more.rules.size(), more.rules.empty() && more.refusals.empty()});
  std::move(more.rules.begin(), more.rules.end(), std::back_inserter(to.rules));
  std::move(more.refusals.begin(), more.refusals.end(), std::back_inserter(to.refusals));
}

std::string load_text(std::string_view key, const std::string& path) {
  return while_doing(std::string(key), [&] { return read_text_file(path, kRuleFileBytesMax); });
}

}  // namespace

std::span<const KnownSetting> known_firewall_settings() { return kSettings; }

FirewallSettings firewall_settings(const PlanFunction& function) {
  FirewallSettings settings{.default_passes = passes(function, "default"),
                            .non_ip_passes = passes(function, "non_ip")};
  for (const std::string& value : values_of(function, "reject_rate")) {
    settings.reject_rate = parse_rate("reject_rate", value);
  }
  settings.of_kernel = !has(function, "rules");
  settings.sources = firewall_sources(function.settings);
  settings.proxied = firewall_proxied(function.settings);
  return settings;
}

std::uint32_t firewall_sources(const Settings& settings) {
  return number_of(settings, "sources", FirewallSettings{}.sources, ConnectionCounts::kSourcesMax);
}

std::uint32_t firewall_proxied(const Settings& settings) {
  return number_of(settings, "proxied", FirewallSettings{}.proxied, ProxiedFlows::kFlowsMax);
}

void check_firewall_files(const PlanFunction& function) {
  const bool iptables = has(function, "iptables") || has(function, "ip6tables");
  const int kinds =
      (has(function, "rules") ? 1 : 0) + (has(function, "nft") ? 1 : 0) + (iptables ? 1 : 0);
  if (kinds != 1) {
    throw Error("rules: firewall needs one of rules, nft, or iptables and ip6tables");
  }
  if (has(function, "default") && !has(function, "rules")) {
    throw Error("default: the policy of the chain is it, where nft or iptables give the rules");
  }
  for (const std::string_view key : kFiles) check_input_files(function, key);
}

FirewallRules load_firewall_files(const PlanFunction& function, std::span<const PlanPort> ports) {
  const std::vector<FirewallPort> known = ports_of(ports);
  FirewallRules out;
  for (const std::string& path : values_of(function, "rules")) {
    append(parse_firewall_rules(load_text("rules", path), path, known), path, out);
  }
  for (const std::string& path : values_of(function, "nft")) {
    append(read_nft_ruleset(load_text("nft", path), path, known), path, out);
  }
  for (const std::string& path : values_of(function, "iptables")) {
    append(read_iptables(load_text("iptables", path), path, kAclIpv4, known), path, out);
  }
  for (const std::string& path : values_of(function, "ip6tables")) {
    append(read_iptables(load_text("ip6tables", path), path, kAclIpv6, known), path, out);
  }
  return out;
}

std::string check_firewall_files_for(FirewallWord word, const PlanFunction& function) {
  using Words = std::array<std::string_view, kFiles.size()>;
  constexpr std::array<Words, static_cast<std::size_t>(FirewallWord::kCount)> kWords = {{
      {" log", "\"log\"", "LOG", "LOG"},
      {"reject ", "\"reject\"", "REJECT", "REJECT"},
      {"synproxy ", "\"synproxy\"", "SYNPROXY", "SYNPROXY"},
  }};
  const Words& words = kWords[static_cast<std::size_t>(word)];
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    for (const std::string& path : values_of(function, kFiles[i])) {
      if (load_text(kFiles[i], path).find(words[i]) != std::string::npos) return path;
    }
  }
  return "";
}

}  // namespace millrace
