// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/lane_pool.hpp"

#include <gtest/gtest.h>

#include "services/functions/nat/nat_address.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

NatSettings settings_with(std::uint32_t address) {
  return {.inside = {"lan"}, .pool = {address}, .max = 100};
}

struct Lane {
  explicit Lane(const NatSettings& settings)
      : needs(LanePool::needs_of(settings, {.settings = {}, .lanes = 2})),
        memory(Mapping::create_anonymous(needs.state_bytes +
                                         LaneUndoLog::bytes_for(needs.undo_lines))),
        state{{memory.base(), needs.state_bytes},
              LaneUndoLog(
                  {memory.base() + needs.state_bytes, LaneUndoLog::bytes_for(needs.undo_lines)},
                  needs.undo_lines, {memory.base(), needs.state_bytes})} {}
  LaneNeeds needs;
  Mapping memory;
  LaneState state;
};

constexpr BatchFacts kFacts{.lane = 1, .lane_count = 2};

TEST(LanePool, IsThereOnceItIsLaidOut) {
  const NatSettings settings = settings_with(0xcb007101);
  const LanePool pool(settings);
  const Lane lane(settings);
  EXPECT_FALSE(pool.laid_out(lane.state));
  auto opened = pool.pool_of(lane.state, kFacts);
  ASSERT_TRUE(opened);
  const FlowTuple tuple{.source = nat_bytes(1), .source_port = 7, .protocol = 17, .version = 4};
  EXPECT_EQ(opened->map(tuple).what, PortPool::Opened::kDone);
  EXPECT_EQ(pool.laid_out(lane.state)->count(), 1u);
  EXPECT_FALSE(pool.pool_of({}, kFacts));
}

TEST(LanePool, OtherSettingsOrLanesFindNoPool) {
  const NatSettings settings = settings_with(0xcb007101), others = settings_with(0xcb007102);
  const Lane lane(settings);
  EXPECT_TRUE(LanePool(settings).pool_of(lane.state, kFacts));
  EXPECT_FALSE(LanePool(others).pool_of(lane.state, kFacts));
  EXPECT_FALSE(LanePool(others).laid_out(lane.state));
  EXPECT_FALSE(LanePool(settings).pool_of(lane.state, {.lane = 1, .lane_count = 3}));
}

}  // namespace
}  // namespace millrace
