// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_settings.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

TEST(FlowSettings, HaveTheDefaultsOfConntrack) {
  const FlowSettings settings = flow_settings({});
  EXPECT_EQ(settings.max, 65'536u);
  EXPECT_TRUE(settings.tcp.pickup);
  EXPECT_FALSE(settings.tcp.liberal);
  EXPECT_FALSE(settings.drop_invalid);
  EXPECT_EQ(settings.timeouts.udp_s, 30u);
  EXPECT_EQ(settings.timeouts.tcp.state_s[static_cast<std::size_t>(TcpState::kEstablished)],
            432'000u);
}

TEST(FlowSettings, TakeEachKeyThatIsKnown) {
  Settings all;
  for (const KnownSetting& known : known_flow_settings()) {
    if (known.kind == SettingKind::kInteger) all.emplace_back(known.name, "77");
  }
  const FlowSettings settings = flow_settings(all);
  EXPECT_EQ(settings.max, 77u);
  const FlowTimeouts& times = settings.timeouts;
  for (std::size_t state = 1; state < kTcpStates; ++state) {
    EXPECT_EQ(times.tcp.state_s[state], 77u) << state;
  }
  EXPECT_EQ(times.tcp.unacknowledged_s, 77u);
  EXPECT_EQ(times.tcp.retransmitted_s, 77u);
  EXPECT_EQ(times.udp_s + times.udp_stream_s + times.icmp_s + times.icmpv6_s + times.generic_s,
            5 * 77u);
}

TEST(FlowSettings, NameWhatIsWrong) {
  const auto error = [](const Settings& settings) {
    return test::error_of([&] { flow_settings(settings); });
  };
  EXPECT_EQ(error({{"invalid", "reject"}}), "invalid: 'reject' is neither pass nor drop");
  EXPECT_EQ(error({{"max", "many"}}), "max: 'many' is no number");
  EXPECT_EQ(error({{"max", "0"}}), "max: 0 flows; at least 1");
  EXPECT_EQ(error({{"pickup", "1"}}), "pickup: '1' is neither true nor false");
  EXPECT_EQ(error({{"udp", "60"}}), "no error");
}

}  // namespace
}  // namespace millrace
