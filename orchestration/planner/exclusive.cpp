// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <algorithm>
#include <string_view>

#include "orchestration/planner/sections.hpp"
#include "shared/base/tcp_address.hpp"

// What one part of a topology has, no other one can have: interfaces, devices, addresses.

namespace millrace {
namespace {

/// An interface of the kernel that a driver of DPDK is given: "net_af_packet0,iface=eth0".
std::string_view interface_of_driver(std::string_view devargs) {
  for (const std::string_view key : {",iface=", ",rx_iface=", ",rx_iface_in="}) {
    const std::size_t at = devargs.find(key);
    if (at == devargs.npos) continue;
    const std::string_view rest = devargs.substr(at + key.size());
    return rest.substr(0, rest.find(','));
  }
  return {};
}

/// The interface of the kernel that the port takes or makes; empty: it has none.
std::string_view interface_of(const TopologySetting& setting) {
  if (setting.key == "devargs") return interface_of_driver(setting.value.value);
  return setting.value.value;
}

/// The setting by which a port names what it takes or makes; null: it shares with any.
const TopologySetting* taken_by(const TopologyPort& port) {
  const std::string& device = port.device.value;
  const std::string_view key = device == "dpdk" ? "devargs" : "interface";
  if (device != "afpacket" && device != "afxdp" && device != "tap" && device != "dpdk") {
    return nullptr;
  }
  const auto at = std::ranges::find(port.settings, key, &TopologySetting::key);
  return at != port.settings.end() ? &*at : nullptr;
}

/// A device by a driver is known by its name, whatever arguments follow. A card with its address
/// may have several ports, which only the arguments tell apart.
std::string_view name_of(const TopologySetting& setting) {
  const std::string_view value = setting.value.value;
  return value.find(':') < value.find(',') ? value : value.substr(0, value.find(','));
}

void check_interfaces(const Topology& topology, Problems& problems) {
  for (const TopologyPort& port : topology.ports) {
    const TopologySetting* const mine = taken_by(port);
    if (mine == nullptr) continue;
    for (const TopologyPort& before : topology.ports) {
      if (&before == &port) break;
      const TopologySetting* const other = taken_by(before);
      if (other == nullptr) continue;
      const bool same_name = other->key == mine->key && name_of(*other) == name_of(*mine);
      const std::string_view interface = interface_of(*mine);
      if (!same_name && (interface.empty() || interface != interface_of(*other))) continue;
      problems.add(mine->value.mark,
                   "'" + shown(mine->value.value) + "' as '" + mine->key + "' of port '" +
                       port.name.value + "', which is another port of this topology already: '" +
                       before.name.value + "'",
                   "one of its own");
      break;
    }
  }
}

/// What has all addresses of the host leaves none for others on that port.
bool overlap(std::string_view one, std::string_view other) {
  const auto port = [](std::string_view text) {
    text.remove_prefix(text.rfind(':') + 1);
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    return text;
  };
  const auto host = [](std::string_view text) { return text.substr(0, text.rfind(':')); };
  const auto all = [&](std::string_view text) {
    return host(text) == "*" || host(text) == "0.0.0.0" || host(text) == "[::]";
  };
  if (port(one).empty() || port(one) != port(other)) return false;  // empty: any free one
  if (all(one) || all(other) || host(one) == host(other)) return true;
  const auto first = socket_address(one), second = socket_address(other);
  return first && second && first->bytes == second->bytes &&
         std::equal(reinterpret_cast<const char*>(first->get()),
                    reinterpret_cast<const char*>(first->get()) + first->bytes,
                    reinterpret_cast<const char*>(second->get()));
}

void check_listeners(const Topology& topology, Problems& problems) {
  if (!topology.control) return;
  const Marked<std::string>& control = topology.control->listen;
  const auto address = host_and_port(control.value);
  if (!address || !overlap(*address, topology.telemetry_listen)) return;
  problems.add(control.mark,
               "'" + shown(control.value) +
                   "' as 'listen' of 'control', where 'telemetry: listen' (" +
                   topology.telemetry_listen + ") listens already",
               "another port");
}

}  // namespace

void check_exclusive(const Topology& topology, Problems& problems) {
  check_interfaces(topology, problems);
  check_listeners(topology, problems);
}

}  // namespace millrace
