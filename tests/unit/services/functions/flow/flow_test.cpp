// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow.hpp"

#include <gtest/gtest.h>

#include "services/functions/flow/flow_table.hpp"

namespace millrace {
namespace {

LaneNeeds needs(const Settings& settings, std::uint32_t lanes) {
  return flow_type().traits.lane_needs({.settings = settings, .lanes = lanes});
}

TEST(FlowType, AsksForRoomForItsLanesShareOfTheFlows) {
  const std::uint64_t of_100 = needs({{"max", "100"}}, 1).state_bytes;
  EXPECT_GE(of_100, FlowTable::bytes_for(100));
  EXPECT_EQ(needs({{"max", "400"}}, 4).state_bytes, of_100);
  EXPECT_EQ(needs({{"max", "397"}}, 4).state_bytes, of_100) << "rounded up";
  EXPECT_EQ(needs({}, 1).state_bytes, needs({{"max", "65536"}}, 1).state_bytes);
}

TEST(FlowType, MakesAFunctionThatGivesFlows) {
  const PlanFunction plan{.name = "f", .type = "flow"};
  EXPECT_NE(flow_type().make({.function = plan, .ports = {}})->flows(), nullptr);
}

}  // namespace
}  // namespace millrace
