// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/mac.hpp"
#include "shared/base/unique_fd.hpp"

/// The parts of rtnetlink that ports need. Start-up only; functions that change something return
/// errno, or 0.

namespace millrace {

struct Link {
  std::uint32_t index = 0;
  std::string name;
  std::uint32_t flags = 0;  ///< IFF_UP, ...
  std::uint16_t type = 0;   ///< ARPHRD_ETHER, ...
  std::uint32_t mtu = 0;
  std::uint32_t master = 0;  ///< index of the bridge, bond, ... that it is part of; 0: of none
  std::uint32_t lower = 0;   ///< index of the interface that it lies on (vlan, macvlan); 0: on none
  std::string alias;         ///< a line of text for people (`ip link` shows it), at most 255 bytes
};

/// A socket that is readable when an interface of this network namespace has changed, come or gone;
/// its messages carry nothing that a caller needs. Does not block. Invalid when the kernel gives
/// none.
UniqueFd link_changes() noexcept;
/// The same when a route has changed, or an interface.
UniqueFd route_changes() noexcept;
/// Tells of neighbours that change (RTM_NEWNEIGH, RTM_DELNEIGH) and of interfaces.
UniqueFd neighbour_changes() noexcept;

/// The interface of that name; nothing when this network namespace has none.
std::optional<Link> find_link(const std::string& interface);
/// The same by its index, which stays when the name changes.
std::optional<Link> find_link(std::uint32_t index);
/// Interfaces over this one by which the kernel's stack receives its packets: the bridge, bond or
/// other master that it is part of, VLAN, macvlan and the like on it, and all interfaces over
/// these. Those in other network namespaces are not seen.
std::vector<Link> links_over(const Link& link);

/// As `ip link set ... up` and `down`.
int set_up(std::uint32_t index, bool up) noexcept;

/// Packets that the device did not take from the kernel's stack; nothing when there is no such
/// interface. May be called while packets move: it allocates nothing, and costs two system calls.
std::optional<std::uint64_t> read_tx_dropped(std::uint32_t index) noexcept;

struct LinkSettings {
  std::uint32_t mtu = 1500;
  std::uint32_t tx_queue_length = 1000;  ///< packets that wait for the device
  MacAddress mac{};
};
/// Sets all of it and brings the interface up.
int bring_up(std::uint32_t index, const LinkSettings& settings) noexcept;
/// Removes the interface, also for its users.
int remove_link(std::uint32_t index) noexcept;

/// An address of the kernel with its prefix.
struct InterfaceAddress {
  int family = 0;  ///< AF_INET, AF_INET6
  std::array<std::uint8_t, 16> bytes{};
  std::uint8_t prefix_bits = 0;
};
/// Parses "10.1.0.1/24" or "2001:db8::1/64"; nothing for any other text.
std::optional<InterfaceAddress> parse_address(const std::string& text);
int add_address(std::uint32_t index, const InterfaceAddress& address) noexcept;

/// Empty: none.
int set_alias(std::uint32_t index, const std::string& alias) noexcept;

/// A queueing discipline `clsact` on the interface, or `ingress` in its place, is there.
bool has_clsact(std::uint32_t index) noexcept;
int add_clsact(std::uint32_t index) noexcept;
int remove_clsact(std::uint32_t index) noexcept;
/// A filter of `clsact` by which the kernel's own stack sees nothing of what arrives; packet
/// sockets see it before. EEXIST: it is there.
int add_cut(std::uint32_t index) noexcept;
int remove_cut(std::uint32_t index) noexcept;

}  // namespace millrace
