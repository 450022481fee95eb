// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/connection_counts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <utility>

#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::array<std::uint64_t, 2> kSecret = {7, 8};
constexpr std::uint32_t kPerSource = 101, kTogether = 200;

/// The state of a lane, with its log.
struct Lane {
  explicit Lane(std::uint32_t sources)
      : bytes(ConnectionCounts::bytes_for(sources)),
        memory(Mapping::create_anonymous(bytes + LaneUndoLog::bytes_for(kLines))),
        state{{memory.base(), bytes},
              LaneUndoLog({memory.base() + bytes, LaneUndoLog::bytes_for(kLines)}, kLines,
                          {memory.base(), bytes})} {
    state.undo.begin(0, 1);
    counts = ConnectionCounts::of_lane(state, sources, kSecret);
  }
  static constexpr std::uint32_t kLines = 64;
  std::size_t bytes;
  Mapping memory;
  LaneState state;
  std::optional<ConnectionCounts> counts;
};

FlowTuple from(std::uint32_t host, std::uint8_t version = 4) {
  FlowTuple tuple{.protocol = 6, .version = version};
  std::memcpy(tuple.source.data(), &host, sizeof host);
  return tuple;
}

TEST(ConnectionCounts, CountsEachSourceOfEachGroup) {
  const Lane lane(100);
  const ConnectionCounts& counts = *lane.counts;
  EXPECT_EQ(counts.count(kPerSource, from(1)), 0u);
  const auto slot = counts.add(kPerSource, from(1));
  ASSERT_TRUE(slot);
  EXPECT_EQ(counts.add(kPerSource, from(1)), slot);
  EXPECT_EQ(counts.count(kPerSource, from(1)), 2u);
  EXPECT_EQ(counts.count(kPerSource, from(2)), 0u);
  EXPECT_EQ(counts.count(kPerSource, from(1, 6)), 0u) << "as an address of IPv6";
  EXPECT_EQ(counts.count(kPerSource + 2, from(1)), 0u) << "of another group";
  counts.remove(*slot, from(1));
  counts.remove(*slot, from(2));
  EXPECT_EQ(counts.count(kPerSource, from(1)), 1u);
}

TEST(ConnectionCounts, AnEvenGroupCountsAllSourcesTogether) {
  const Lane lane(100);
  EXPECT_TRUE(lane.counts->add(kTogether, from(1)));
  EXPECT_TRUE(lane.counts->add(kTogether, from(2, 6)));
  EXPECT_EQ(lane.counts->count(kTogether, from(3)), 2u);
}

TEST(ConnectionCounts, TheStateOutlivesItsView) {
  Lane lane(100);
  EXPECT_FALSE(ConnectionCounts::laid_out({}));
  EXPECT_FALSE(ConnectionCounts::of_lane({}, 100, kSecret));
  ASSERT_TRUE(lane.counts->add(kPerSource, from(1)));
  lane.state.undo.begin(0, 2);
  ASSERT_TRUE(lane.counts->add(kPerSource, from(1)));
  ASSERT_TRUE(lane.counts->add(kPerSource + 2, from(9)));
  EXPECT_EQ(lane.state.undo.undo(0, 2), LaneUndoLog::Undone::kAll);
  const auto again = ConnectionCounts::of_lane(lane.state, 100, {1, 2});
  EXPECT_EQ(again->count(kPerSource, from(1)), 1u);
  EXPECT_EQ(again->count(kPerSource + 2, from(9)), 0u);
  EXPECT_FALSE(again->slot_of(kPerSource + 2));
}

TEST(ConnectionCounts, AFullTableSaysSoAndForgetsNothing) {
  const Lane lane(64);
  for (std::uint32_t host = 0; host < 64; ++host) {
    lane.state.undo.begin(0, host);
    ASSERT_TRUE(lane.counts->add(kPerSource, from(host))) << host;
  }
  EXPECT_FALSE(lane.counts->count(kPerSource, from(64)));
  EXPECT_FALSE(lane.counts->add(kPerSource, from(64)));
  EXPECT_EQ(lane.counts->count(kPerSource, from(63)), 1u);
  lane.counts->remove(*lane.counts->slot_of(kPerSource), from(63));
  EXPECT_TRUE(lane.counts->add(kPerSource, from(64)));
}

TEST(ConnectionCounts, AGroupHasASlotWhileItCounts) {
  const Lane lane(100);
  for (std::uint32_t i = 0; i < ConnectionCounts::kSlots; ++i) {
    ASSERT_TRUE(lane.counts->add(kPerSource + 2 * i, from(1)));
  }
  EXPECT_FALSE(lane.counts->count(1, from(1)));
  EXPECT_FALSE(lane.counts->add(1, from(1)));
  lane.counts->remove(*lane.counts->slot_of(kPerSource + 6), from(1));
  EXPECT_TRUE(lane.counts->add(1, from(1)));
  EXPECT_FALSE(lane.counts->slot_of(kPerSource + 6));
}

TEST(ConnectionCounts, IsAsAModelOfIt) {
  constexpr std::uint32_t kSources = 1000, kHosts = 900;
  const Lane lane(kSources);
  std::mt19937 random(5);
  std::map<std::uint32_t, std::uint32_t> model;
  std::optional<std::uint8_t> slot;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    lane.state.undo.begin(0, i);
    const std::uint32_t host = static_cast<std::uint32_t>(random()) % kHosts;
    if (random() % 2 == 0) {
      slot = lane.counts->add(kPerSource, from(host));
      ASSERT_TRUE(slot);
      ++model[host];
    } else if (model[host] != 0) {
      lane.counts->remove(*slot, from(host));
      --model[host];
    }
    ASSERT_EQ(lane.counts->count(kPerSource, from(host)), model[host]);
  }
}

TEST(ConnectionCounts, ANetworkIsOneSource) {
  const Lane lane(64);
  const auto of = [](std::uint8_t net, std::uint8_t host, std::uint8_t version) {
    FlowTuple tuple{.version = version};
    tuple.source[version == 4 ? 2 : 7] = net;
    tuple.source[version == 4 ? 3 : 8] = host;
    return tuple;
  };
  const SourceNetwork network{{24, 64}};
  for (const std::uint8_t version : {4, 6}) {
    const auto slot = lane.counts->add(kPerSource, of(1, 2, version), network);
    ASSERT_TRUE(slot);
    ASSERT_TRUE(lane.counts->add(kPerSource, of(1, 3, version), network));
    EXPECT_EQ(lane.counts->count(kPerSource, of(1, 4, version), network), 2u);
    EXPECT_EQ(lane.counts->count(kPerSource, of(2, 2, version), network), 0u);
    lane.counts->remove(*slot, of(1, 3, version));
    EXPECT_EQ(lane.counts->count(kPerSource, of(1, 4, version), network), 1u);
  }
}

}  // namespace
}  // namespace millrace
