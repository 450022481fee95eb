// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/base/unique_fd.hpp"

/// The few things that a port wants of rtnetlink. Start-up only; orders return errno, or 0.

namespace millrace {

struct Link {
  std::uint32_t index = 0;
  std::uint32_t flags = 0;  ///< IFF_UP, ...
  std::uint16_t type = 0;   ///< ARPHRD_ETHER, ...
  std::uint32_t mtu = 0;
  std::string alias;  ///< a line of text for people (`ip link` shows it), at most 255 bytes
};

/// Readable when an interface of this network namespace has changed, come or gone; what is in it is
/// of no interest. Does not block. Invalid when there is none to be had.
UniqueFd link_changes() noexcept;

/// Nothing when this network namespace has no interface of the name.
std::optional<Link> find_link(const std::string& interface);

/// As `ip link set ... up` and `down`.
int set_up(std::uint32_t index, bool up) noexcept;

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
