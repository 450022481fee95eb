// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/route/route_load.hpp"
#include "shared/base/mac.hpp"
#include "shared/config/plan.hpp"
#include "shared/packet/ipv6_bytes.hpp"

namespace millrace {

/// An IPv6 address of a port, as in packets.
struct PortIpv6 {
  Ipv6Bytes address{};
  std::uint8_t length = 128;
};

/// What a router says of itself on one port.
struct RouterPort {
  MacAddress mac{};
  std::uint32_t mtu = 1500;
  std::vector<OwnAddress> ipv4;
  std::vector<PortIpv6> ipv6;
  Ipv6Bytes link_local{};  ///< of its MAC address; ours where the port has an IPv6 address
  int host = -1;           ///< PlanPort::host

  bool has_ipv4(std::uint32_t address) const noexcept;
  bool has_ipv6(const Ipv6Bytes& address) const noexcept;  ///< the link-local one too
  /// That of all routers of a network of the port (RFC 4291 2.6.1; not of /127, /128).
  bool is_anycast(const Ipv6Bytes& address) const noexcept;
  /// A network of the port holds it.
  bool is_near(std::uint32_t address) const noexcept;
  bool is_near(const Ipv6Bytes& address) const noexcept;
  /// To all hosts of one of its networks, or of the link.
  bool is_broadcast(std::uint32_t address) const noexcept;
  /// One network of the port holds both.
  bool are_together(std::uint32_t one, std::uint32_t other) const noexcept;
  /// The port's address in the network of `to`, else its first one; null without any.
  const OwnAddress* source_for(std::uint32_t to) const noexcept;
  /// Likewise; the link-local one for a link-local address, and for others only where the port has
  /// no other; null without any.
  const Ipv6Bytes* source_for(const Ipv6Bytes& to) const noexcept;
};

/// The ports of the topology, as the function route sees them. Private memory of a worker.
class RouterPorts {
 public:
  /// Throws Error for an address or MAC address that is none.
  explicit RouterPorts(std::span<const PlanPort> ports);
  /// Null: there is no such port.
  const RouterPort* at(std::uint8_t port) const noexcept {
    return port < ports_.size() ? &ports_[port] : nullptr;
  }
  /// An address of any port, or the anycast address of one of its networks. `address`: no
  /// link-local one, which is ours at its own port alone.
  bool is_own(const Ipv6Bytes& address) const noexcept;

 private:
  std::vector<RouterPort> ports_;
};

/// Number of the port that an entry of `setting` names. Throws Error, which names the setting, when
/// there is none.
std::size_t number_of_port(std::string_view setting, const std::string& name,
                           std::span<const PlanPort> ports);

}  // namespace millrace
