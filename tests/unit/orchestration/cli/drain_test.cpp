// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/drain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Plan plan_of_two_ports() {
  Plan plan;
  plan.ports = {{.name = "lan"}, {.name = "wan"}};
  plan.streams.resize(2);
  plan.streams[1].port = 1;
  return plan;
}

TEST(Drain, WaitsForNothingWhenAllHasAnEnd) {
  AuditReply audit{.exact = true, .quiet = true, .received = 5, .transmitted = 5};
  audit.lanes = {{.stream = 0, .lane = 0, .received = 5, .transmitted = 5}};
  EXPECT_THAT(waits_for(plan_of_two_ports(), {}, audit), IsEmpty());
}

TEST(Drain, NamesWhatItWaitsFor) {
  const Plan plan = plan_of_two_ports();
  AuditReply audit{.exact = true, .quiet = true};
  EXPECT_THAT(waits_for(plan, {"ingress.lan.0"}, audit),
              ElementsAre("ingress.lan.0, which has not stopped reading"));
  audit.lanes = {{.stream = 0, .lane = 2, .in_flight = 1},
                 {.stream = 1, .lane = 7, .in_flight = 9}};
  audit.quiet = false;
  EXPECT_THAT(waits_for(plan, {}, audit),
              ElementsAre("1 packet in flight, received by port lan into lane 2",
                          "9 packets in flight, received by port wan into lane 7"));
  audit.lanes.clear();
  audit.loops = {{"again", 3}};
  EXPECT_THAT(waits_for(plan, {}, audit), ElementsAre("3 packets in loop again"));
  audit.loops.clear();
  EXPECT_THAT(waits_for(plan, {}, audit), ElementsAre("counters that still move"));
  audit.problems = {"3 slots are in use with nothing in flight"};
  EXPECT_THAT(waits_for(plan, {}, audit), ElementsAre(audit.problems.front()));
}

}  // namespace
}  // namespace millrace
