// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/held_draft.hpp"

#include <algorithm>

#include "services/functions/nat64/as_sent.hpp"
#include "services/functions/nat64/icmp_counterpart.hpp"
#include "services/functions/nat64/revert_version.hpp"
#include "services/functions/route/ipv4_router.hpp"
#include "services/functions/route/ipv6_router.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {

std::size_t HeldDraft::quote_bytes(std::size_t front_bytes, std::size_t needed,
                                   std::size_t wanted) const noexcept {
  if (bytes_max_ == 0) return wanted;
  const std::size_t quoted = std::min(wanted, bytes_max_ - std::min(bytes_max_, front_bytes));
  return quoted < std::min(needed, wanted) ? 0 : quoted;
}

void HeldDraft::finish(std::size_t front_bytes, std::span<const std::byte> quote,
                       std::uint8_t back) noexcept {
  report_ = {.front = front(front_bytes),
             .back = back,
             .quoted = static_cast<std::uint16_t>(quote.size())};
  if (bytes_max_ == 0) return;
  std::ranges::copy(quote, bytes_.begin() + static_cast<std::ptrdiff_t>(front_bytes));
  report_.front = front(front_bytes + quote.size());
  report_.quoted = 0;
}

namespace {

/// One that goes on as the other version is told what a report at once would say.
Icmpv6Error not_answered(bool has_other_version) noexcept {
  const Icmpv6Error error = Icmpv6Error::address_unreachable();
  return has_other_version ? icmpv6_counterpart(kIcmpHostUnreachable, 0).value_or(error) : error;
}

}  // namespace

void hold_packet(const FinishContext& call, const Departure& at, NextHops& hops, Ipv4Router* ipv4,
                 Ipv6Router* ipv6) noexcept {
  HeldDraft draft(call.facts.port_in);
  {
    const Icmpv6Error error = not_answered(has_other_version(call, at.packet));
    const AsSent as_sent(call, at.packet);
    if (as_sent.differs()) draft.quote_by_itself(HeldReport::bytes_max(at.neighbour.family));
    const std::uint16_t type =
        wire_bytes::u16(call.batch.bytes(at.packet), ipv4_wire::kEtherTypeAt);
    if (as_sent.is_known() && type == ipv4_wire::kTypeIpv4 && ipv4 != nullptr) {
      ipv4->write_held(call, at.packet, draft);
    } else if (as_sent.is_known() && type != ipv4_wire::kTypeIpv4 && ipv6 != nullptr) {
      ipv6->write_held(call, at.packet, error, draft);
    }
  }
  hops.hold(call, at, draft.report());
}

}  // namespace millrace
