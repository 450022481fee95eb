// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router_ports.hpp"

#include <algorithm>

#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {
namespace {

bool in_network(std::uint32_t address, const OwnAddress& own) noexcept {
  return ((address ^ own.address) & ipv4_mask(own.length)) == 0;
}

bool in_network(const Ipv6Bytes& address, const PortIpv6& own) noexcept {
  return ipv6_prefix_of(address, own.length) == ipv6_prefix_of(own.address, own.length);
}

RouterPort port_of(const PlanPort& from) {
  RouterPort port;
  if (!parse_mac(from.mac, port.mac)) {
    throw Error("port " + from.name + ": '" + from.mac + "' is no MAC address");
  }
  port.mtu = from.mtu;
  port.host = from.host;
  const OwnAddresses own = own_addresses({&from, 1});
  port.ipv4 = own.ipv4;
  for (const OwnIpv6Address& address : own.ipv6) {
    port.ipv6.push_back({ipv6_bytes(address.address), address.length});
  }
  port.link_local = link_local_of(port.mac);
  return port;
}

}  // namespace

RouterPorts::RouterPorts(std::span<const PlanPort> ports) {
  ports_.reserve(ports.size());
  for (const PlanPort& port : ports) {
    const RouterPort& own = ports_.emplace_back(port_of(port));
    if (first_ipv4_ == nullptr && !own.ipv4.empty()) first_ipv4_ = &own.ipv4.front();
    const auto global = std::ranges::find_if(
        own.ipv6, [](const PortIpv6& ip) { return !is_link_local(ip.address); });
    if (first_ipv6_ == nullptr && global != own.ipv6.end()) first_ipv6_ = &global->address;
  }
  for (RouterPort& port : ports_) {
    port.speaks_ipv6 =
        !port.ipv6.empty() || (first_ipv6_ != nullptr && port.mtu >= ipv6_wire::kMtuMin);
  }
}

bool RouterPorts::is_own(const Ipv6Bytes& address) const noexcept {
  return std::ranges::any_of(ports_, [&](const RouterPort& port) {
    return port.has_ipv6(address) || port.is_anycast(address);
  });
}

bool RouterPorts::answers_for(const RouterPort& port, std::uint32_t address) const noexcept {
  return port.ipv4.empty() ? is_own(address) : port.has_ipv4(address);
}

bool RouterPorts::is_own(std::uint32_t address) const noexcept {
  return std::ranges::any_of(ports_,
                             [&](const RouterPort& port) { return port.has_ipv4(address); });
}

const OwnAddress* RouterPorts::source_at(const RouterPort& port, std::uint32_t to) const noexcept {
  const OwnAddress* const own = port.source_for(to);
  return own != nullptr ? own : first_ipv4_;
}

const Ipv6Bytes* RouterPorts::source_at(const RouterPort& port,
                                        const Ipv6Bytes& to) const noexcept {
  const Ipv6Bytes* const own = port.source_for(to);
  return !reaches(own, to) && first_ipv6_ != nullptr ? first_ipv6_ : own;
}

std::size_t number_of_port(std::string_view setting, const std::string& name,
                           std::span<const PlanPort> ports) {
  const auto at = std::ranges::find(ports, name, &PlanPort::name);
  if (at == ports.end()) {
    throw Error(std::string(setting) + ": no port '" + name + "' in the topology");
  }
  return static_cast<std::size_t>(at - ports.begin());
}

bool RouterPort::has_ipv4(std::uint32_t address) const noexcept {
  return std::ranges::find(ipv4, address, &OwnAddress::address) != ipv4.end();
}

bool RouterPort::has_ipv6(const Ipv6Bytes& address) const noexcept {
  return (speaks_ipv6 && address == link_local) ||
         std::ranges::find(ipv6, address, &PortIpv6::address) != ipv6.end();
}

bool RouterPort::is_anycast(const Ipv6Bytes& address) const noexcept {
  return std::ranges::any_of(ipv6, [&](const PortIpv6& own) {
    return own.length < 127 && address == ipv6_prefix_of(own.address, own.length);
  });
}

bool RouterPort::is_near(std::uint32_t address) const noexcept {
  return std::ranges::any_of(ipv4, [&](const auto& own) { return in_network(address, own); });
}

bool RouterPort::is_near(const Ipv6Bytes& address) const noexcept {
  if (is_link_local(address)) return speaks_ipv6;
  return std::ranges::any_of(ipv6, [&](const auto& own) { return in_network(address, own); });
}

bool RouterPort::is_broadcast(std::uint32_t address) const noexcept {
  if (address == ~std::uint32_t{0}) return true;
  return std::ranges::any_of(ipv4, [&](const OwnAddress& own) {
    if (own.length > 30) return false;  // RFC 3021
    return address == (own.address | ~std::uint32_t{0} >> own.length);
  });
}

bool RouterPort::are_together(std::uint32_t one, std::uint32_t other) const noexcept {
  return std::ranges::any_of(
      ipv4, [&](const auto& own) { return in_network(one, own) && in_network(other, own); });
}

const OwnAddress* RouterPort::source_for(std::uint32_t to) const noexcept {
  for (const OwnAddress& own : ipv4) {
    if (in_network(to, own)) return &own;
  }
  return ipv4.empty() ? nullptr : &ipv4.front();
}

const Ipv6Bytes* RouterPort::source_for(const Ipv6Bytes& to) const noexcept {
  if (!speaks_ipv6) return nullptr;
  if (is_link_local(to) || ipv6.empty()) return &link_local;
  for (const PortIpv6& own : ipv6) {
    if (in_network(to, own)) return &own.address;
  }
  const auto global =
      std::ranges::find_if(ipv6, [](const PortIpv6& own) { return !is_link_local(own.address); });
  return global != ipv6.end() ? &global->address : &ipv6.front().address;
}

}  // namespace millrace
