// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/shared/layout/neighbour_memory.hpp"
#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace {
namespace {

/// Of Scapy: by VLAN 10, 02:00:00:00:00:05 claims 10.1.0.1.
constexpr const char* kTaggedConflict =
    "ffffffffffff0200000000058100000a080600010800060400010200000000050a0100010000"
    "000000000a010001";

TEST(Route, APacketOfAVlanHasAllThatOthersHave) {
  const BuiltRoutes routes("10.9.0.0/16 drop\n",
                           {{.name = "trunk", .device = "null", .mac = "02:00:00:00:00:0a"},
                            {.name = "office",
                             .device = "vlan",
                             .settings = {{"link", "trunk"}, {"id", "10"}},
                             .mac = "02:00:00:00:00:0a",
                             .addresses = {"10.1.0.1/24"}}},
                           "true");
  const std::unique_ptr<Function> route = route_type().make(routes.context());
  BatchArena arena(1);
  arena.add(bytes_of_hex(kTaggedConflict));
  const Batch batch = arena.batch();
  const std::uint16_t packet = 0;
  const Selection all{{&packet, 1}};
  const NeighbourMemory memory;
  const NeighbourTableView neighbours = memory.table();
  EventRingOfTest events;
  const BatchFacts facts{.port_in = 0, .now_ns = 1'000'000'000, .neighbours = &neighbours};
  route->compute(batch, all, batch.results(0));
  route->finish({batch, all, batch.results(0), {}, {}, facts, events.writer(batch)});
  EXPECT_EQ(batch.output[0], 1) << "defended in the VLAN";
  const std::vector<EventRecord> told = events.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kAnomaly);
}

}  // namespace
}  // namespace millrace
