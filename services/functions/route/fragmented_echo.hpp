// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/route/reassembler.hpp"
#include "services/functions/route/router_ports.hpp"

namespace millrace {

/// Echo requests that come to addresses of ours in fragments: they are put together, and answered
/// when whole, in fragments too where the answer is longer than the port's MTU. Fragments are
/// consumed{control}; the one that completes a request becomes the last of the answer, the others
/// leave beside it as generated{fragment}. Refused ones are dropped for `bad_fragment`, and what is
/// no request in the end for `own_address`. One worker's; data thread.
class FragmentedEcho {
 public:
  /// A fragment of ICMP, of IPv4, with a whole header, that came to the MAC address of `in`, and
  /// to an address of ours.
  void ipv4(const FinishContext& call, std::uint16_t packet, const RouterPort& in) noexcept;
  /// Likewise of IPv6: its fragment header, which names ICMPv6, lies `fragment_at` bytes behind the
  /// start of the IPv6 header.
  void ipv6(const FinishContext& call, std::uint16_t packet, const RouterPort& in,
            std::size_t fragment_at) noexcept;

 private:
  bool is_whole(const FinishContext& call, std::uint16_t packet, const Fragment& fragment) noexcept;

  Reassembler reassembler_;
};

}  // namespace millrace
