// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_ports.hpp"

#include <algorithm>
#include <optional>

#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"
#include "shared/config/loop.hpp"

namespace millrace {
namespace {

std::uint32_t number_of(const char* key, const std::string& name, std::span<const PlanPort> ports) {
  const auto port = std::ranges::find(ports, name, &PlanPort::name);
  if (port == ports.end()) throw Error(std::string(key) + ": there is no port '" + name + "'");
  return static_cast<std::uint32_t>(port - ports.begin());
}

/// What comes in by it comes from outside.
void check_hairpin(const NatSettings& settings, std::span<const PlanPort> ports) {
  if (settings.hairpin.empty()) return;
  const PlanPort& port = ports[number_of("hairpin", settings.hairpin, ports)];
  const bool inside = std::ranges::find(settings.inside, port.name) != settings.inside.end();
  if (is_loop(port) && !inside) return;
  throw Error("hairpin: '" + port.name + "' is " +
              (inside ? "a port of the inside" : "of device '" + port.device + "'") +
              "; expected a port of device 'loop' that is not in 'inside'");
}

/// Nothing of an IPv6 address.
std::optional<std::uint32_t> ipv4_in(const std::string& with_length) {
  std::uint32_t address = 0;
  if (!parse_ipv4(with_length.substr(0, with_length.find('/')), address)) return std::nullopt;
  return address;
}

/// The first IPv4 address of the port that `masquerade` names.
std::uint32_t masqueraded(const NatSettings& settings, std::span<const PlanPort> ports) {
  const PlanPort& port = ports[number_of("masquerade", settings.masquerade, ports)];
  if (std::ranges::find(settings.inside, port.name) != settings.inside.end()) {
    throw Error("masquerade: '" + port.name + "' is a port of the inside");
  }
  for (const std::string& text : port.addresses) {
    if (const auto address = ipv4_in(text)) return *address;
  }
  throw Error("masquerade: port '" + port.name +
              "' has no IPv4 address; expected one in its 'addresses'");
}

/// A router forwards nothing from an address of its own, but for that of `masquerade`.
void refuse_own(const NatSettings& settings, std::span<const PlanPort> ports,
                std::uint32_t masqueraded) {
  for (const PlanPort& port : ports) {
    for (const std::string& text : port.addresses) {
      const std::optional<std::uint32_t> own = ipv4_in(text);
      if (!own || own == masqueraded) continue;
      const bool fixed = std::ranges::any_of(
          settings.fixed, [&](const NatFixed& one) { return *own - one.outside < one.count; });
      if (!fixed && !std::ranges::binary_search(settings.pool, *own)) continue;
      throw Error(std::string(fixed ? "static, publish" : "pool") + ": " + ipv4_text(*own) +
                  " is an address of port '" + port.name +
                  "'; expected addresses that the outside sends here by a route");
    }
  }
}

}  // namespace

NatSettings nat_settings_at(const Settings& given, std::span<const PlanPort> ports) {
  NatSettings settings = nat_settings(given);
  std::uint32_t address = 0;
  if (!settings.masquerade.empty()) {
    address = masqueraded(settings, ports);
    settings = nat_settings(given, address);
  }
  check_hairpin(settings, ports);
  refuse_own(settings, ports, address);
  return settings;
}

PlanTranslation nat_translation(const Settings& given, const std::vector<PlanPort>& ports) {
  const NatSettings settings = nat_settings_at(given, ports);
  PlanTranslation translation{.inside = {}, .pool = {}, .block = settings.block, .fixed = {}};
  for (const std::string& name : settings.inside) {
    translation.inside.push_back(number_of("inside", name, ports));
  }
  for (const std::uint32_t address : settings.pool) {
    if (!translation.pool.empty() && translation.pool.back().last + 1 == address) {
      translation.pool.back().last = address;
    } else {
      translation.pool.push_back({address, address});
    }
  }
  for (const NatFixed& fixed : settings.fixed) {
    translation.fixed.push_back({.outside = fixed.outside,
                                 .inside = fixed.inside,
                                 .count = fixed.count,
                                 .protocol = fixed.protocol,
                                 .port = fixed.outside_port});
  }
  return translation;
}

}  // namespace millrace
