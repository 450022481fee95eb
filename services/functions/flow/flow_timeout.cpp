// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_timeout.hpp"

#include <algorithm>

#include "services/functions/flow/translated_time.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kIcmpv6, ip_protocol::kTcp, ip_protocol::kUdp,
    ip_protocol::kUdpLite;

std::uint32_t usual_s(std::uint8_t protocol, const FlowOwn& own, const FlowTimeouts& all) noexcept {
  switch (protocol) {
    case kTcp:
      return tcp_timeout_s(own.tcp, all.tcp);
    case kUdp:
    case kUdpLite:
      return own.answered != 0 ? all.udp_stream_s : all.udp_s;
    case kIcmp:
      return all.icmp_s;
    case kIcmpv6:
      return all.icmpv6_s;
    default:
      return all.generic_s;
  }
}

}  // namespace

std::uint32_t flow_timeout_s(const FlowTuple& tuple, const FlowOwn& own,
                             const FlowTimeouts& timeouts) noexcept {
  const std::uint32_t seconds = usual_s(tuple.protocol, own, timeouts);
  if (own.translated == 0) return seconds;
  return std::max(seconds, translated_seconds_min(tuple, own, timeouts));
}

}  // namespace millrace
