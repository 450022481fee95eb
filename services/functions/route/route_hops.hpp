// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/route/route_image.hpp"
#include "shared/base/mac.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// A next hop as one worker applies it: private memory, made once from image and ports.
struct alignas(16) RouteRewrite {
  std::array<std::uint8_t, 12>
      macs;              ///< of the frame: destination (next hop), source (output port)
  std::uint8_t output;   ///< port number
  std::uint8_t reason;   ///< RouteReason; kNone: forward
  std::uint8_t kind;     ///< RouteHopKind
  std::uint8_t has_mtu;  ///< 1: the hop's own MTU has to be looked at
};
static_assert(sizeof(RouteRewrite) == 16);

/// Resolves the image's port names against the topology's ports; without ports (`millrace try`) a
/// port's number is its place in the image and its MAC 02:00:00:00:00:<number + 1>. Throws Error
/// for a name that is no port.
std::vector<RouteRewrite> resolve_hops(const RouteTable& table, std::span<const PlanPort> ports);

/// Number of each of the image's ports in the topology; their own without ports (`millrace try`).
/// Throws Error for one that the topology does not have.
std::vector<std::size_t> topology_ports(const RouteTable& table, std::span<const PlanPort> ports);

/// The next hops of a table as one worker applies them. Of a live table more of them come, and the
/// default routes change. One worker's; no call after the constructor allocates.
class RouteHops {
 public:
  /// Borrows the memory that `table` is a view of. Throws Error as resolve_hops() does.
  RouteHops(const RouteTable& table, std::span<const PlanPort> ports);

  /// To be called between compute and finish: then what compute has found is here.
  void refresh() noexcept {
    const HopsNow now = hops_now(table_);
    if (now != now_) [[unlikely]]
      update(now);
  }
  /// By number; those of the default routes are what they are now.
  std::span<const RouteRewrite> rewrites() const noexcept { return rewrites_; }
  const HopsNow& now() const noexcept { return now_; }

 private:
  struct Port {
    std::uint8_t number;  ///< in the topology
    MacAddress mac;
  };

  void update(const HopsNow& now) noexcept;
  RouteRewrite resolve(const RouteHop& hop) const noexcept;

  RouteTable table_;
  std::vector<Port> ports_;  ///< by the image's number
  std::vector<RouteRewrite> rewrites_;
  HopsNow now_;
};

}  // namespace millrace
