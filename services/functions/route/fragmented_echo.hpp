// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/route/answer_routes.hpp"
#include "services/functions/route/reassembler.hpp"

namespace millrace {

/// Echo requests that come to addresses of ours in fragments: they are put together, and answered
/// when whole, in fragments too where the answer is longer than the MTU of the port that it leaves
/// by. Fragments are consumed{control}; the one that completes a request becomes the last of the
/// answer, the others leave beside it as generated{fragment}. Refused ones are dropped for
/// `bad_fragment`, and what is no request in the end for `own_address`. Pieces do not wait for a
/// neighbour: while its MAC address is not known, an answer of several is dropped as
/// `no_neighbour`, and one that has no route as `no_route`. One worker's; data thread.
class FragmentedEcho {
 public:
  explicit FragmentedEcho(const AnswerRoutes& answers) : answers_(answers) {}

  /// A fragment of ICMP, of IPv4, with a whole header, that came to the port's MAC address, and to
  /// an address of ours.
  void ipv4(const FinishContext& call, std::uint16_t packet) noexcept;
  /// Likewise of IPv6: its fragment header, which names ICMPv6, lies `fragment_at` bytes behind the
  /// start of the IPv6 header.
  void ipv6(const FinishContext& call, std::uint16_t packet, std::size_t fragment_at) noexcept;

 private:
  /// The reply, whole, in pieces by its way. `cut`: makes them, for an MTU.
  template <typename Address, typename Cut>
  void leave_by_route(const FinishContext& call, std::uint16_t packet, std::span<std::byte> reply,
                      const Address& to, Cut cut) noexcept;
  bool is_whole(const FinishContext& call, std::uint16_t packet, const Fragment& fragment) noexcept;

  const AnswerRoutes& answers_;
  Reassembler reassembler_;
};

}  // namespace millrace
