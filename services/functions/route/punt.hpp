// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/route/router_ports.hpp"

namespace millrace {

/// Leaves a packet to the host behind the port `in` that it came in by (`host_interface`): a copy
/// goes there as it is (generated{punt}), itself it is consumed{control}; dropped{side_full} where
/// the side list has no room. False, and nothing happens: there is no such host, or `in` is null.
/// Data thread.
inline bool punt(const FinishContext& call, std::uint16_t packet, const RouterPort* in) noexcept {
  if (in == nullptr || in->host < 0) return false;
  if (!call.batch.side.has_room()) {
    call.batch.drop(packet, Reason::kSideFull);
    return true;
  }
  call.batch.side.add({.packet = packet,
                       .kind = static_cast<std::uint8_t>(SideKind::kCopy),
                       .port = static_cast<std::uint8_t>(in->host),
                       .why = static_cast<std::uint8_t>(Reason::kPunt)});
  call.batch.consume(packet, Reason::kControl);
  return true;
}

}  // namespace millrace
