// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "services/functions/flow/tcp_track.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Seconds that a flow stays without a packet; conntrack's defaults.
struct FlowTimeouts {
  TcpTimeouts tcp;
  std::uint32_t udp_s = 30;          ///< until it is answered
  std::uint32_t udp_stream_s = 120;  ///< and behind that
  std::uint32_t icmp_s = 30, icmpv6_s = 30;
  std::uint32_t generic_s = 600;  ///< of other protocols
};

struct FlowSettings {
  std::uint64_t max = 65'536;  ///< flows of all lanes together
  TcpPolicy tcp;
  FlowTimeouts timeouts;
  bool drop_invalid = false;
};

/// `invalid`, `max` and the others in the order of the README.
std::span<const KnownSetting> known_flow_settings();
/// Flows that fit into the table of a lane; `lanes`: of the path.
std::uint32_t flows_of_lane(const FlowSettings& settings, std::uint32_t lanes);

/// Throws Error that names the key.
FlowSettings flow_settings(const Settings& settings);

}  // namespace millrace
