// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/route/punt.hpp"
#include "services/functions/route/router_advertiser.hpp"
#include "services/functions/route/router_ports.hpp"
#include "services/functions/token_bucket.hpp"
#include "shared/packet/neighbour_discovery.hpp"

namespace millrace {

/// Neighbour discovery of a router (RFC 4861): solicitations for its addresses are answered,
/// neighbours learnt, and hosts that claim an address of ours are told of. One worker's; data
/// thread.
class Ipv6Discovery {
 public:
  Ipv6Discovery(const RouterPorts& ports, TokenBucket& limit, Punt& punt,
                RouterAdvertiser& advertiser)
      : ports_(ports), limit_(limit), punt_(punt), advertiser_(advertiser) {}

  /// True: it was a solicitation or an advertisement, and its fate is decided. The packet has a
  /// whole header of IPv6.
  bool take(const FinishContext& call, std::uint16_t packet) noexcept;

 private:
  void tell_conflict(const FinishContext& call, std::uint16_t packet,
                     const NeighbourMessage& message, const Ipv6Bytes& claimed) noexcept;
  void learn(const FinishContext& call, std::uint16_t packet, const NeighbourMessage& message,
             const Ipv6Bytes& address, NeighbourNews news) noexcept;
  void confirm(const FinishContext& call, const Ipv6Bytes& address) noexcept;
  void answer(const FinishContext& call, std::uint16_t packet, const Ipv6Bytes& asker,
              const Ipv6Bytes& target, const MacAddress& to) noexcept;

  const RouterPorts& ports_;
  TokenBucket& limit_;
  Punt& punt_;
  RouterAdvertiser& advertiser_;
};

}  // namespace millrace
