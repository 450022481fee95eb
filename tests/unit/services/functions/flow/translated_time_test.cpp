// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/translated_time.hpp"

#include <gtest/gtest.h>

#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

std::uint32_t least_of(std::uint8_t protocol, const FlowTimeouts& timeouts,
                       TcpState state = TcpState::kNone, bool answered = false,
                       std::uint16_t port = 5000, std::uint16_t from = 40000) {
  FlowOwn own{};
  own.answered = answered ? 1 : 0;
  own.tcp.state = static_cast<std::uint8_t>(state);
  const FlowTuple tuple{.source_port = from, .destination_port = port, .protocol = protocol};
  return translated_seconds_min(tuple, own, timeouts);
}

TEST(TranslatedTime, IsWhatRfcsAskOfANat) {
  const FlowTimeouts usual;
  for (const bool answered : {false, true}) {
    EXPECT_EQ(least_of(ip_protocol::kUdp, usual, TcpState::kNone, answered), 120u);
    EXPECT_EQ(least_of(ip_protocol::kUdp, usual, TcpState::kNone, answered, 5000, 500), 120u);
  }
  EXPECT_EQ(least_of(ip_protocol::kUdp, usual, TcpState::kNone, false, 53), 0u);
  EXPECT_EQ(least_of(ip_protocol::kUdp, usual, TcpState::kNone, true, 53), 120u);
  EXPECT_EQ(least_of(ip_protocol::kIcmp, usual), 60u);
  EXPECT_EQ(least_of(ip_protocol::kIcmpv6, usual), 60u);
  EXPECT_EQ(least_of(ip_protocol::kSctp, usual), 0u);
  for (std::size_t at = 1; at < kTcpStates; ++at) {
    const auto state = static_cast<TcpState>(at);
    const bool is_transitory = state != TcpState::kEstablished && state != TcpState::kClose;
    EXPECT_EQ(least_of(ip_protocol::kTcp, usual, state), is_transitory ? 240u : 0u) << at;
  }
}

TEST(TranslatedTime, ATimeOutThatIsNotTheDefaultIsTheUsers) {
  FlowTimeouts own;
  own.udp_s = own.icmp_s = own.icmpv6_s = 5;
  own.tcp.state_s.fill(7);
  EXPECT_EQ(least_of(ip_protocol::kUdp, own), 0u);
  EXPECT_EQ(least_of(ip_protocol::kUdp, own, TcpState::kNone, true), 120u) << "another key";
  EXPECT_EQ(least_of(ip_protocol::kIcmp, own), 0u);
  EXPECT_EQ(least_of(ip_protocol::kIcmpv6, own), 0u);
  EXPECT_EQ(least_of(ip_protocol::kTcp, own, TcpState::kSynSent), 0u);
}

}  // namespace
}  // namespace millrace
