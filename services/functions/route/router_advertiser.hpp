// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/route/router_ports.hpp"
#include "services/functions/token_bucket.hpp"
#include "shared/packet/neighbour_discovery.hpp"
#include "shared/packet/tick.hpp"

namespace millrace {

/// Answers router solicitations with the networks of the port (RFC 4861 6.2, RFC 4862), at some
/// ports, and tells of them unasked where there are ticks. One worker's; data thread.
class RouterAdvertiser {
 public:
  /// `names`: of the ports of `plan`, which `ports` are. `limit`: of what goes to one host. Throws
  /// Error for a name that is no port, and for a port that has no network of IPv6 to tell of, or
  /// more than kAdvertisedPrefixesMax.
  RouterAdvertiser(const RouterPorts& ports, std::span<const PlanPort> plan,
                   std::span<const std::string> names, TokenBucket& limit);

  /// True: the packet, a frame with a whole IPv6 header, is a router solicitation at such a port,
  /// and its fate is decided: it has become the answer, or is consumed.
  bool answer(const FinishContext& call, std::uint16_t packet) noexcept;

  /// Advertises unasked, beside the tick `packet`, at those ports where it is due by `now`: three
  /// times after the start, 16 s apart, then at random times that are 200 to 600 s apart (RFC 4861
  /// 6.2.1, 6.2.4), other ones at each port. False: the side list had no room for one of them.
  bool advertise(const FinishContext& call, std::uint16_t packet, const Tick& now) noexcept;

 private:
  struct Port {
    std::vector<AdvertisedPrefix> prefixes;  ///< none: nothing is advertised there
    std::uint64_t next_to_all_ns = 0;        ///< not to all nodes before then
  };

  std::size_t write(std::span<std::byte> frame, std::uint8_t number, const MacAddress& mac,
                    const Ipv6Bytes& to) const noexcept;

  const RouterPorts& ports_;
  std::vector<Port> advertised_;  ///< by number
  TokenBucket& limit_;
};

/// An unasked advertisement by the port with this MAC address is due in the time that the tick
/// speaks for.
bool is_advertisement_due(const MacAddress& mac, const Tick& now) noexcept;

/// The networks of a port of which hosts are told, each once. Those of 64 bits are for addresses
/// that hosts choose themselves; one address alone is no network.
std::vector<AdvertisedPrefix> advertised_prefixes(const RouterPort& port);

}  // namespace millrace
