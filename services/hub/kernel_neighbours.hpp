// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/mac.hpp"
#include "shared/layout/neighbour_entry.hpp"

/// The neighbours of this host's kernel (rtnetlink(7), ip-neighbour(8)). Control plane.

namespace millrace {

struct KernelNeighbour {
  int interface = 0;  ///< the kernel's number of it
  NeighbourKey key;   ///< without a port
  /// It has a MAC address that is not asked for: permanent, without ARP (`noarp`), or learnt by a
  /// daemon (`extern_learn`). Else it is gone, or the kernel has found it by asking.
  bool fixed = false;
  MacAddress mac{};  ///< of a fixed one

  friend bool operator==(const KernelNeighbour&, const KernelNeighbour&) = default;
};

/// What an RTM_NEWNEIGH or RTM_DELNEIGH message says, its header included. Nothing: it is none, is
/// cut, or speaks of something else (proxies, forwarding tables of bridges). Reads nothing outside
/// the message, whatever it holds.
std::optional<KernelNeighbour> parse_kernel_neighbour(std::span<const std::byte> message);

/// All fixed ones of both families, as they are now. A change meanwhile may be in it or not. Throws
/// Error.
std::vector<KernelNeighbour> read_kernel_neighbours();

}  // namespace millrace
