// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/golden/golden_table.hpp"

namespace millrace {
namespace {

TEST(RouteGolden, EveryKindOfPacketEndsAsTheTableSays) {
  GoldenRun(read_golden("route.golden"), "route").expect_all();
}

TEST(RouteGolden, EveryKindOfIpv6PacketEndsAsTheTableSays) {
  GoldenRun(read_golden("route_ipv6.golden"), "route").expect_all();
}

TEST(RouteGolden, AnswersHoldsAndCutsAsTheTableSays) {
  GoldenRun(read_golden("route_answers.golden"), "route").expect_all();
}

TEST(RouteGolden, AnswersAndHoldsIpv6AsTheTableSays) {
  GoldenRun(read_golden("route_answers_ipv6.golden"), "route").expect_all();
}

TEST(RouteGolden, EveryFlowTakesOneOfSeveralNextHopsAsTheTableSays) {
  GoldenRun(read_golden("route_groups.golden"), "route").expect_all();
}

}  // namespace
}  // namespace millrace
