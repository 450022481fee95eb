// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/packet/ipv6_bytes.hpp"
#include "shared/packet/tick.hpp"

namespace millrace {

/// Tells the switches of a port's link which groups of IPv6 the router is in (MLD: RFC 3810, RFC
/// 2710), so that those with MLD snooping let solicitations for its addresses through (RFC 4862
/// 5.4.2). A port with a host behind it leaves that to the host's kernel. One worker's; data
/// thread.
class GroupReports {
 public:
  /// `ports` must outlive it.
  explicit GroupReports(const RouterPorts& ports);

  /// True: the packet, a frame with a whole IPv6 header, is a query at a port with addresses of
  /// IPv6, and is consumed. The answer leaves beside it at once, as generated{announce}: there is
  /// no clock to wait by. Without room in the side list it is not said.
  bool answer(const FinishContext& call, std::uint16_t packet) noexcept;

  /// Tells unasked of the groups of all ports, beside the tick `packet`, where that is due by
  /// `now`: twice after the start (RFC 3810 6.1). False: the side list had no room for one of them.
  bool tick(const FinishContext& call, std::uint16_t packet, const Tick& now) const noexcept;

 private:
  struct Query {
    bool is_old = false;  ///< of version 1 (RFC 2710)
    Ipv6Bytes group{};    ///< ::: all groups
  };

  static bool parse(std::span<const std::byte> frame, Query& query) noexcept;
  bool report(const FinishContext& call, std::uint16_t packet, std::uint8_t port,
              std::span<const Ipv6Bytes> groups, std::uint8_t kind) const noexcept;
  bool report_old(const FinishContext& call, std::uint16_t packet, std::uint8_t port,
                  const Ipv6Bytes& group) const noexcept;

  const RouterPorts& ports_;
  std::vector<std::vector<Ipv6Bytes>> groups_;  ///< by port
};

}  // namespace millrace
