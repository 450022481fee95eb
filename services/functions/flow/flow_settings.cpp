// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_settings.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "services/functions/flow/flow_table.hpp"
#include "services/functions/lane_share.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr double kTimeoutMax = 10'000'000;  // seconds; 115 days

/// A time-out and its place.
struct Timeout {
  std::string_view key;
  std::uint32_t& (*of)(FlowTimeouts&);
};

template <TcpState kState>
std::uint32_t& tcp(FlowTimeouts& timeouts) {
  return timeouts.tcp.state_s[static_cast<std::size_t>(kState)];
}

template <std::uint32_t TcpTimeouts::*kMember>
std::uint32_t& tcp_other(FlowTimeouts& timeouts) {
  return timeouts.tcp.*kMember;
}

template <std::uint32_t FlowTimeouts::*kMember>
std::uint32_t& other(FlowTimeouts& timeouts) {
  return timeouts.*kMember;
}

constexpr Timeout kTimeouts[] = {{"tcp_syn_sent", tcp<TcpState::kSynSent>},
                                 {"tcp_syn_recv", tcp<TcpState::kSynRecv>},
                                 {"tcp_established", tcp<TcpState::kEstablished>},
                                 {"tcp_fin_wait", tcp<TcpState::kFinWait>},
                                 {"tcp_close_wait", tcp<TcpState::kCloseWait>},
                                 {"tcp_last_ack", tcp<TcpState::kLastAck>},
                                 {"tcp_time_wait", tcp<TcpState::kTimeWait>},
                                 {"tcp_close", tcp<TcpState::kClose>},
                                 {"tcp_unacknowledged", tcp_other<&TcpTimeouts::unacknowledged_s>},
                                 {"tcp_max_retrans", tcp_other<&TcpTimeouts::retransmitted_s>},
                                 {"udp", other<&FlowTimeouts::udp_s>},
                                 {"udp_stream", other<&FlowTimeouts::udp_stream_s>},
                                 {"icmp", other<&FlowTimeouts::icmp_s>},
                                 {"icmpv6", other<&FlowTimeouts::icmpv6_s>},
                                 {"generic", other<&FlowTimeouts::generic_s>}};
constexpr std::size_t kOthers = 4;

}  // namespace

std::span<const KnownSetting> known_flow_settings() {
  static const auto kSettings = [] {
    std::array<KnownSetting, kOthers + std::size(kTimeouts)> all{};
    all[0] = {"max", SettingKind::kInteger, 1, 1e9};
    all[1] = {"invalid"};
    all[2] = {"pickup", SettingKind::kFlag};
    all[3] = {"liberal", SettingKind::kFlag};
    for (std::size_t i = 0; i < std::size(kTimeouts); ++i) {
      all[kOthers + i] = {kTimeouts[i].key, SettingKind::kInteger, 1, kTimeoutMax};
    }
    return all;
  }();
  return kSettings;
}

std::uint32_t flows_of_lane(const FlowSettings& settings, std::uint32_t lanes) {
  return share_of_lane(settings.max, lanes, FlowTable::kFlowsMax);
}

FlowSettings flow_settings(const Settings& given) {
  FlowSettings settings;
  for (const auto& [key, value] : given) {
    if (key == "max") {
      settings.max = setting_number(key, value);
      if (settings.max == 0) throw Error("max: 0 flows; at least 1");
    } else if (key == "invalid") {
      settings.drop_invalid = setting_is_second(key, value, "pass", "drop");
    } else if (key == "pickup") {
      settings.tcp.pickup = setting_flag(key, value);
    } else if (key == "liberal") {
      settings.tcp.liberal = setting_flag(key, value);
    } else {
      for (const Timeout& timeout : kTimeouts) {
        if (timeout.key != key) continue;
        timeout.of(settings.timeouts) = static_cast<std::uint32_t>(setting_number(key, value));
      }
    }
  }
  // A simultaneous open waits as any other.
  tcp<TcpState::kSynSent2>(settings.timeouts) = tcp<TcpState::kSynSent>(settings.timeouts);
  return settings;
}

}  // namespace millrace
