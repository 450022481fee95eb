// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/translated_time.hpp"

#include <algorithm>
#include <cstddef>

#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kUdpSeconds = 120, kTcpSeconds = 240, kIcmpSeconds = 60;
constexpr std::uint16_t kWellKnownPorts = 1024;

std::uint32_t of_udp(const FlowTuple& tuple, const FlowOwn& own, const FlowTimeouts& timeouts,
                     const FlowTimeouts& defaults) noexcept {
  if (own.answered == 0 && tuple.destination_port < kWellKnownPorts) return 0;
  const bool is_default = own.answered != 0 ? timeouts.udp_stream_s == defaults.udp_stream_s
                                            : timeouts.udp_s == defaults.udp_s;
  return is_default ? kUdpSeconds : 0;
}

std::uint32_t of_tcp(const FlowOwn& own, const TcpTimeouts& timeouts,
                     const TcpTimeouts& defaults) noexcept {
  const TcpState state = state_of(own.tcp);
  if (state == TcpState::kEstablished || state == TcpState::kClose) return 0;
  const auto at = static_cast<std::size_t>(state);
  return timeouts.state_s[at] == defaults.state_s[at] ? kTcpSeconds : 0;
}

}  // namespace

std::uint32_t translated_seconds_min(const FlowTuple& tuple, const FlowOwn& own,
                                     const FlowTimeouts& timeouts) noexcept {
  static constexpr FlowTimeouts kDefaults{};
  switch (tuple.protocol) {
    case ip_protocol::kTcp:
      return of_tcp(own, timeouts.tcp, kDefaults.tcp);
    case ip_protocol::kUdp:
    case ip_protocol::kUdpLite:
      return of_udp(tuple, own, timeouts, kDefaults);
    case ip_protocol::kIcmp:
      return timeouts.icmp_s == kDefaults.icmp_s ? kIcmpSeconds : 0;
    case ip_protocol::kIcmpv6:
      return timeouts.icmpv6_s == kDefaults.icmpv6_s ? kIcmpSeconds : 0;
    default:
      return 0;
  }
}

}  // namespace millrace
