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
  Ipv6Bytes link_local{};  ///< of its MAC address; ours where the port speaks IPv6
  /// The port has an IPv6 address, or another port has one and this one's MTU carries IPv6 (RFC
  /// 8200 5): unnumbered, it has its link-local address alone.
  bool speaks_ipv6 = false;
  int host = -1;  ///< PlanPort::host

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
  /// no other; null where it does not speak IPv6.
  const Ipv6Bytes* source_for(const Ipv6Bytes& to) const noexcept;
};

/// The ports of the topology, as the function route sees them. Private memory of a worker.
class RouterPorts {
 public:
  /// Throws Error for an address or MAC address that is none.
  explicit RouterPorts(std::span<const PlanPort> ports);
  RouterPorts(const RouterPorts&) = delete;  // pointers into it
  RouterPorts& operator=(const RouterPorts&) = delete;
  /// Null: there is no such port.
  const RouterPort* at(std::uint8_t port) const noexcept {
    return port < ports_.size() ? &ports_[port] : nullptr;
  }
  /// An address of any port, or the anycast address of one of its networks. `address`: no
  /// link-local one, which is ours at its own port alone.
  bool is_own(const Ipv6Bytes& address) const noexcept;

  /// The port answers for the address: it has it, or has none of IPv4, and another port has it.
  /// Such an unnumbered port borrows the router's (RFC 1812 2.2.7).
  bool answers_for(const RouterPort& port, std::uint32_t address) const noexcept;
  /// Where what leaves by the port for `to` comes from: an address of the port, or, where it has
  /// none of the version, one that it borrows: the first of the router (RFC 1812 4.3.2.4). Null:
  /// the router has none.
  const OwnAddress* source_at(const RouterPort& port, std::uint32_t to) const noexcept;
  /// Likewise. For an address that is not of the link a link-local one is the last choice (RFC 6724
  /// 5, rule 2).
  const Ipv6Bytes* source_at(const RouterPort& port, const Ipv6Bytes& to) const noexcept;
  /// An answer to `to` may come from `own`, which is null where a port has none.
  static bool reaches(const OwnAddress* own, std::uint32_t /*to*/) noexcept {
    return own != nullptr;
  }
  static bool reaches(const Ipv6Bytes* own, const Ipv6Bytes& to) noexcept {
    return own != nullptr && (!is_link_local(*own) || is_link_local(to));
  }
  /// An address of any port.
  bool is_own(std::uint32_t address) const noexcept;
  /// Some port has an address of IPv4.
  bool has_ipv4() const noexcept { return first_ipv4_ != nullptr; }

 private:
  std::vector<RouterPort> ports_;  ///< they stay where they are
  const OwnAddress* first_ipv4_ = nullptr;
  const Ipv6Bytes* first_ipv6_ = nullptr;  ///< of those that are not link-local
};

/// Number of the port that an entry of `setting` names. Throws Error, which names the setting, when
/// there is none.
std::size_t number_of_port(std::string_view setting, const std::string& name,
                           std::span<const PlanPort> ports);

}  // namespace millrace
