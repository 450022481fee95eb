// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/report_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace::report_limits_test {
namespace {

constexpr std::uint32_t kNeighbour = 0x0a010005, kBetter = 0x0a010009;  // of lan
constexpr MacAddress kNext = {2, 0, 0, 0, 0, 0x77};

std::vector<PlanPort> narrow_wan() {
  std::vector<PlanPort> plan = dual_ports();
  plan[1].mtu = 1280;
  return plan;
}

RouteFrame from_lan(const FrameSpec& spec) { return addressed(make_frame(spec), 0x0a); }

/// One of each kind, a second.
struct Limited : RouterParts {
  Limited() : RouterParts(narrow_wan(), 1, 1) {}

  bool tells_of_ttl() {
    take(from_lan({.ttl = 1}));
    ipv4.end(call(), 0, RouteReason::kTtlExpired);
    return is_answer(Reason::kReport);
  }
  bool tells_of_mtu() {
    take(from_lan({.payload = 1300}));
    ipv4.forward(call(), 0, {.port = 1, .mac = kNext});
    return is_answer(Reason::kReport);
  }
  bool redirects() {
    take(from_lan({.source = kNeighbour}));
    ipv4.forward(call(), 0, {.port = 0, .neighbour = neighbour_of(0, kBetter)});
    return std::ranges::any_of(records(), [](const SideRecord& record) {
      return record.why == static_cast<std::uint8_t>(Reason::kReport);
    });
  }
  bool tells_of_route_ipv6() {
    take(addressed(make_ipv6_frame({}), 0x0a));
    ipv6.end(call(), 0, RouteReason::kNoRoute);
    return is_answer(Reason::kReport);
  }
  bool tells_of_mtu_ipv6() {
    take(addressed(make_ipv6_frame({.payload = 1300}), 0x0a));
    ipv6.forward(call(), 0, {.port = 1, .mac = kNext});
    return is_answer(Reason::kReport);
  }
};

TEST(ReportLimits, NoKindTakesTheTokensOfAnother) {
  Limited parts;
  EXPECT_TRUE(parts.tells_of_ttl());
  EXPECT_FALSE(parts.tells_of_ttl());
  EXPECT_TRUE(parts.tells_of_mtu());
  EXPECT_FALSE(parts.tells_of_mtu());
  EXPECT_TRUE(parts.is_dropped_for(Reason::kOversize));
  EXPECT_TRUE(parts.redirects());
  EXPECT_FALSE(parts.redirects());
}

TEST(ReportLimits, OfIpv6Likewise) {
  Limited parts;
  EXPECT_TRUE(parts.tells_of_route_ipv6());
  EXPECT_FALSE(parts.tells_of_route_ipv6());
  EXPECT_TRUE(parts.tells_of_mtu_ipv6());
  EXPECT_FALSE(parts.tells_of_mtu_ipv6());
}

}  // namespace
}  // namespace millrace::report_limits_test
