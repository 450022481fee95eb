// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rule_counts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

using Kind = Threshold::Kind;

struct CountMemory {
  explicit CountMemory(std::uint32_t of)
      : counts(of), lane({.state_bytes = RuleCounts::bytes_for(of), .undo_lines = 1000}) {
    lane.state.undo.begin(0, 1);
  }
  Counted count(const Threshold& threshold, std::uint32_t now_s, const FlowTuple& tuple = {},
                std::uint32_t sid = 1) {
    lane.state.undo.begin(0, 1);
    return RuleCounts(lane.state, 0, counts, {1, 2})
        .count({.gid = 1, .sid = sid, .number = 0}, threshold, tuple, now_s);
  }
  std::uint32_t counts;
  LaneMemory lane;
};

FlowTuple between(std::uint8_t source, std::uint8_t destination, std::uint16_t port = 1) {
  FlowTuple tuple{.source_port = port, .destination_port = 80, .protocol = 6, .version = 4};
  tuple.source[0] = source;
  tuple.destination[0] = destination;
  return tuple;
}

/// What matches at the times do: '.' nothing, '!' counts, '-' beyond.
std::string fates(const Threshold& threshold, const std::vector<std::uint32_t>& times) {
  CountMemory memory(8);
  std::string all;
  for (const std::uint32_t now : times) {
    all += ".!-"[static_cast<int>(memory.count(threshold, now))];
  }
  return all;
}

// As Suricata's documentation of `threshold` says.
TEST(RuleCounts, ALimitTellsOfTheFirstOnes) {
  const Threshold limit{.kind = Kind::kLimit, .count = 2, .seconds = 60};
  EXPECT_EQ(fates(limit, {0, 1, 2, 59, 60, 61, 62}), "!!--!!-");
}

TEST(RuleCounts, AThresholdTellsOfEachNthOne) {
  const Threshold third{.kind = Kind::kThreshold, .count = 3, .seconds = 60};
  EXPECT_EQ(fates(third, {0, 1, 2, 3, 4, 5, 6, 60, 61, 62}), "..!..!...!");
}

TEST(RuleCounts, BothTellsOnceInATime) {
  const Threshold both{.kind = Kind::kBoth, .count = 3, .seconds = 10};
  EXPECT_EQ(fates(both, {0, 1, 2, 3, 4, 10, 11, 12, 13}), "..!--..!-");
}

TEST(RuleCounts, AFilterMatchesBeyondItsCount) {
  const Threshold filter{.kind = Kind::kDetectionFilter, .count = 2, .seconds = 10};
  EXPECT_EQ(fates(filter, {0, 1, 2, 3, 10, 11, 12}), "..!!..!");
}

TEST(RuleCounts, EachTracksItsOwn) {
  struct Case {
    TrackBy by;
    bool same_source, same_destination, same_flow, other_sid, back;
  };
  for (const Case& one : {Case{TrackBy::kSource, true, false, true, false, false},
                          Case{TrackBy::kDestination, false, true, true, false, false},
                          Case{TrackBy::kBoth, false, false, true, false, true},
                          Case{TrackBy::kFlow, false, false, false, false, true},
                          Case{TrackBy::kRule, true, true, true, false, true}}) {
    const Threshold limit{.kind = Kind::kLimit, .by = one.by, .count = 1, .seconds = 60};
    const auto counted_together = [&](const FlowTuple& other, std::uint32_t sid = 1) {
      CountMemory memory(64);
      EXPECT_EQ(memory.count(limit, 1, between(1, 2)), Counted::kCounts);
      return memory.count(limit, 1, other, sid) == Counted::kBeyond;
    };
    EXPECT_TRUE(counted_together(between(1, 2)));
    EXPECT_EQ(counted_together(between(1, 3)), one.same_source);
    EXPECT_EQ(counted_together(between(3, 2)), one.same_destination);
    EXPECT_EQ(counted_together(between(1, 2, 7)), one.same_flow);
    EXPECT_EQ(counted_together(between(1, 2), 2), one.other_sid);
    EXPECT_EQ(counted_together(reversed(between(1, 2))), one.back);
  }
}

/// A table that is large enough counts as a map of all addresses does.
TEST(RuleCounts, CountsEachAddressAsAMapDoes) {
  std::mt19937 random(3);
  CountMemory memory(4096);
  const Threshold limit{.kind = Kind::kLimit, .count = 3, .seconds = 20};
  std::map<std::uint8_t, std::pair<std::uint32_t, std::uint32_t>> model;  // since, matches
  for (std::uint32_t now = 0; now < 2000; ++now) {
    const auto source = static_cast<std::uint8_t>(random() % 50);
    auto& [since, matches] = model[source];
    if (matches == 0 || now - since >= 20) since = now, matches = 0;
    ++matches;
    ASSERT_EQ(memory.count(limit, now, between(source, 2)) == Counted::kCounts, matches <= 3);
  }
}

TEST(RuleCounts, TheOldestOfABucketMakesRoom) {
  CountMemory memory(8);
  const Threshold limit{.kind = Kind::kLimit, .count = 1, .seconds = 1000};
  for (std::uint8_t source = 0; source < 8; ++source) {
    EXPECT_EQ(memory.count(limit, 10u + source, between(source, 1)), Counted::kCounts);
  }
  EXPECT_EQ(memory.count(limit, 20, between(3, 1)), Counted::kBeyond);
  EXPECT_EQ(memory.count(limit, 20, between(8, 1)), Counted::kCounts);
  EXPECT_EQ(memory.count(limit, 20, between(1, 1)), Counted::kBeyond);
  EXPECT_EQ(memory.count(limit, 20, between(0, 1)), Counted::kCounts);  // it was given up
}

/// Bits as a map of addresses to ends has them.
TEST(RuleCounts, BitsOfHostsAreThoseOfAMap) {
  std::mt19937 random(4);
  CountMemory memory(4096);
  const HostBit bit{.by = TrackBy::kDestination, .seconds = 9, .name = 5};
  const HostBit from{.by = TrackBy::kSource, .seconds = 9, .name = 5};
  std::map<std::uint8_t, std::uint32_t> ends;
  for (std::uint32_t now = 1; now < 3000; ++now) {
    memory.lane.state.undo.begin(0, 1);
    RuleCounts bits(memory.lane.state, 0, memory.counts, {1, 2});
    const auto host = static_cast<std::uint8_t>(random() % 20);
    const FlowTuple tuple = between(static_cast<std::uint8_t>(random() % 50), host);
    ASSERT_EQ(bits.bit(bit, tuple, now), ends[host] > now);
    EXPECT_EQ(bits.bit(from, reversed(tuple), now), ends[host] > now) << "it is the host's";
    const auto what = random() % 4;
    if (what == 0) bits.set_bit(bit, true, tuple, now), ends[host] = now + 9;
    if (what == 1) bits.set_bit(bit, false, tuple, now), ends[host] = 0;
    ASSERT_EQ(bits.bit(bit, tuple, now), ends[host] > now);
  }
}

TEST(RuleCounts, BitsOfPairsAreAlikeBothWays) {
  CountMemory memory(64);
  RuleCounts bits(memory.lane.state, 0, memory.counts, {1, 2});
  bits.set_bit({.by = TrackBy::kBoth, .name = 1}, true, between(1, 2), 7);
  EXPECT_TRUE(bits.bit({.by = TrackBy::kBoth, .name = 1}, between(2, 1), 8));
  EXPECT_FALSE(bits.bit({.by = TrackBy::kBoth, .name = 2}, between(1, 2), 8));
  EXPECT_FALSE(bits.bit({.by = TrackBy::kBoth, .name = 1}, between(1, 3), 8));
}

TEST(RuleCounts, ABatchThatIsTakenBackHasCountedNothing) {
  CountMemory memory(64);
  const Threshold limit{.kind = Kind::kLimit, .count = 2, .seconds = 60};
  EXPECT_EQ(memory.count(limit, 1), Counted::kCounts);
  const auto before = memory.lane.copy();
  EXPECT_EQ(memory.count(limit, 1), Counted::kCounts);
  EXPECT_EQ(memory.lane.state.undo.undo(0, 1), LaneUndoLog::Undone::kAll);
  EXPECT_EQ(memory.lane.copy(), before);
  EXPECT_EQ(memory.count(limit, 1), Counted::kCounts);
  EXPECT_EQ(memory.count(limit, 1), Counted::kBeyond);
}

}  // namespace
}  // namespace millrace
