// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_timeout.hpp"

#include <gtest/gtest.h>

#include "shared/base/ip_protocol.hpp"

namespace millrace {
namespace {

std::uint32_t timeout_of(std::uint8_t protocol, bool answered, bool translated,
                         const FlowTimeouts& timeouts) {
  FlowOwn own{};
  own.answered = answered ? 1 : 0;
  own.translated = translated ? 1 : 0;
  const FlowTuple tuple{.source_port = 40000, .destination_port = 5000, .protocol = protocol};
  return flow_timeout_s(tuple, own, timeouts);
}

TEST(FlowTimeout, IsThatOfItsProtocolAndState) {
  FlowTimeouts timeouts;
  timeouts.udp_s = 11;
  timeouts.udp_stream_s = 12;
  timeouts.icmp_s = 13;
  timeouts.icmpv6_s = 14;
  timeouts.generic_s = 15;
  for (const bool translated : {false, true}) {
    EXPECT_EQ(timeout_of(ip_protocol::kUdp, false, translated, timeouts), 11u);
    EXPECT_EQ(timeout_of(ip_protocol::kUdpLite, true, translated, timeouts), 12u);
    EXPECT_EQ(timeout_of(ip_protocol::kIcmp, true, translated, timeouts), 13u);
    EXPECT_EQ(timeout_of(ip_protocol::kIcmpv6, true, translated, timeouts), 14u);
    EXPECT_EQ(timeout_of(ip_protocol::kSctp, true, translated, timeouts), 15u);
  }
}

TEST(FlowTimeout, IsNoShorterThanRfcsAskWhereItIsTranslated) {
  const FlowTimeouts usual;
  EXPECT_EQ(timeout_of(ip_protocol::kUdp, false, false, usual), usual.udp_s);
  EXPECT_EQ(timeout_of(ip_protocol::kUdp, false, true, usual), 120u);
  EXPECT_EQ(timeout_of(ip_protocol::kIcmp, false, false, usual), usual.icmp_s);
  EXPECT_EQ(timeout_of(ip_protocol::kIcmp, false, true, usual), 60u);
}

}  // namespace
}  // namespace millrace
