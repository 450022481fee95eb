// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/route/route_reason.hpp"
#include "services/functions/route/router_ports.hpp"
#include "services/functions/token_bucket.hpp"

namespace millrace {

/// Leaves packets to the hosts behind ports (`host_interface`), as many a second as `punt_rate`
/// says. One worker's; data thread.
class Punt {
 public:
  /// `per_second`: 0: any number. After a pause a tenth of that goes at once, at least 50.
  explicit Punt(std::uint32_t per_second)
      : limit_(per_second, std::max<std::uint32_t>(per_second / 10, 50)) {}

  /// Leaves a packet to the host behind the port `in` that it came in by: a copy goes there as it
  /// is (generated{punt}), itself it is consumed{control}; dropped{side_full} where the side list
  /// has no room, dropped{punt_limited} above the rate. False, and nothing happens: there is no
  /// such host, or `in` is null.
  bool operator()(const FinishContext& call, std::uint16_t packet, const RouterPort* in) noexcept {
    if (in == nullptr || in->host < 0) return false;
    if (!call.batch.side.has_room()) {
      call.batch.drop(packet, Reason::kSideFull);
    } else if (!limit_.take(call.facts.now_ns)) {
      call.batch.drop(packet, call.reason(RouteReason::kPuntLimited));
    } else {
      call.batch.side.add({.packet = packet,
                           .kind = static_cast<std::uint8_t>(SideKind::kCopy),
                           .port = static_cast<std::uint8_t>(in->host),
                           .why = static_cast<std::uint8_t>(Reason::kPunt)});
      call.batch.consume(packet, Reason::kControl);
    }
    return true;
  }

 private:
  TokenBucket limit_;
};

}  // namespace millrace
