// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::array<std::uint64_t, 2> kSecret = {1, 2};

FlowTuple tuple_of(std::uint32_t number) {
  FlowTuple tuple{.source_port = static_cast<std::uint16_t>(number),
                  .destination_port = 80,
                  .protocol = 6,
                  .version = 4};
  tuple.source[0] = static_cast<std::uint8_t>(number >> 16);
  tuple.destination[0] = 9;
  return tuple;
}

/// State and undo log of a lane, in memory as the segment's.
struct Lane {
  explicit Lane(std::uint32_t flows, std::uint32_t lines = FlowTable::kLinesChangedMax)
      : bytes(FlowTable::bytes_for(flows)),
        memory(Mapping::create_anonymous(bytes + LaneUndoLog::bytes_for(lines))),
        state{{memory.base(), bytes},
              LaneUndoLog({memory.base() + bytes, LaneUndoLog::bytes_for(lines)}, lines,
                          {memory.base(), bytes})},
        table(state, flows, kSecret) {}

  std::vector<std::byte> copy() const { return {state.bytes.begin(), state.bytes.end()}; }

  std::size_t bytes;
  Mapping memory;
  LaneState state;
  FlowTable table;
};

using Inserted = FlowTable::Inserted;

TEST(FlowTable, FindsAFlowFromBothSides) {
  Lane lane(10);
  const FlowTuple asks = tuple_of(1), answers = reversed(asks);
  EXPECT_FALSE(lane.table.find(asks));
  const auto done = lane.table.insert(asks, answers, 30);
  ASSERT_EQ(done.what, Inserted::kNew);
  EXPECT_EQ(lane.table.find(asks)->flow, done.flow);
  EXPECT_EQ(lane.table.find(asks)->direction, 0);
  EXPECT_EQ(lane.table.find(answers)->direction, 1);
  EXPECT_EQ(lane.table.insert(answers, asks, 30).what, Inserted::kThere);
  FlowTuple elsewhere = asks;
  elsewhere.zone = 1;
  EXPECT_FALSE(lane.table.find(elsewhere));
  lane.table.remove(done.flow);
  EXPECT_FALSE(lane.table.find(asks));
  EXPECT_FALSE(lane.table.find(answers));
  EXPECT_EQ(lane.table.count(), 0u);
}

TEST(FlowTable, NeitherSideOfAFlowThatWentIsFound) {
  Lane lane(8);  // few buckets: both sides often share one, one in 127 with the same tag
  std::mt19937 random(7);
  std::deque<FlowTuple> there;
  for (int round = 0; round < 50'000; ++round) {
    lane.state.undo.begin(0, static_cast<std::uint64_t>(round) + 1);
    const FlowTuple asks = tuple_of(static_cast<std::uint32_t>(random()) % 1'000'000);
    if (lane.table.insert(asks, reversed(asks), 30).what == Inserted::kNew) there.push_back(asks);
    if (there.size() < 6) continue;
    const FlowTuple gone = there.front();
    there.pop_front();
    lane.table.remove(lane.table.find(gone)->flow);
    ASSERT_FALSE(lane.table.find(gone)) << round;
    ASSERT_FALSE(lane.table.find(reversed(gone))) << round;
  }
}

TEST(FlowTable, ATranslatedFlowIsFoundByWhatItsAnswersHave) {
  Lane lane(10);
  const FlowTuple asks = tuple_of(1), answers = reversed(tuple_of(77));
  ASSERT_EQ(lane.table.insert(asks, answers, 30).what, Inserted::kNew);
  EXPECT_FALSE(lane.table.find(reversed(asks)));
  EXPECT_EQ(lane.table.find(answers)->direction, 1);
  EXPECT_EQ(lane.table.insert(tuple_of(2), answers, 30).what, Inserted::kThere);
  EXPECT_FALSE(lane.table.find(tuple_of(2)));
}

TEST(FlowTable, AFlowBetweenTheSamePortsOfOneHostIsOneTuple) {
  Lane lane(10);
  FlowTuple same = tuple_of(80);
  same.source = same.destination;
  ASSERT_EQ(same, reversed(same));
  const auto done = lane.table.insert(same, reversed(same), 30);
  ASSERT_EQ(done.what, Inserted::kNew);
  EXPECT_EQ(lane.table.find(same)->direction, 0);
  lane.table.remove(done.flow);
  EXPECT_FALSE(lane.table.find(same));
}

TEST(FlowTable, WhenItIsFullTheOldestThatIsNotEstablishedGoes) {
  Lane lane(3);
  std::uint32_t flow[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    flow[i] = lane.table.insert(tuple_of(i), reversed(tuple_of(i)), 30).flow;
  }
  lane.table.establish(flow[0]);
  const auto done = lane.table.insert(tuple_of(9), reversed(tuple_of(9)), 30);
  EXPECT_EQ(done.what, Inserted::kNew);
  EXPECT_EQ(done.given_up, flow[1]);
  EXPECT_FALSE(lane.table.find(tuple_of(1)));
  for (const std::uint32_t i : {0u, 2u, 9u}) EXPECT_TRUE(lane.table.find(tuple_of(i))) << i;
  for (const std::uint32_t i : {2u, 9u}) lane.table.establish(lane.table.find(tuple_of(i))->flow);
  EXPECT_EQ(lane.table.insert(tuple_of(10), reversed(tuple_of(10)), 30).what, Inserted::kFull);
  EXPECT_EQ(lane.table.count(), 3u);
}

TEST(FlowTable, ATimeThatBecomesSoonerCountsAtOnce) {
  Lane lane(3);
  const std::uint32_t flow = lane.table.insert(tuple_of(1), reversed(tuple_of(1)), 432'000).flow;
  const auto never = [](std::uint32_t) { ADD_FAILURE(); };
  EXPECT_EQ(lane.table.expire(5, 10, never), 0u);
  lane.table.follow(flow, 1, lane.table.entry(flow).own, 60, 15);
  EXPECT_EQ(lane.table.expire(14, 10, never), 0u);
  EXPECT_EQ(lane.table.expire(15, 10, [](std::uint32_t) {}), 1u);
}

TEST(FlowTable, AHundredThousandFlowsFindTheirPlaces) {
  constexpr std::uint32_t kFlows = 100'000;
  Lane lane(kFlows);
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    lane.state.undo.begin(0, i);
    ASSERT_EQ(lane.table.insert(tuple_of(i), reversed(tuple_of(i)), 30).what, Inserted::kNew) << i;
  }
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    ASSERT_EQ(lane.table.find(tuple_of(i))->flow, i);
    ASSERT_EQ(lane.table.find(reversed(tuple_of(i)))->flow, i);
  }
  std::vector<FlowTuple> tuples;
  for (std::uint32_t i = 0; i < FlowTable::kManyMax; ++i) {
    tuples.push_back(tuple_of(i % 3 == 0 ? kFlows + i : i * 1500));  // some are not there
    if (i % 2 == 0) tuples.back() = reversed(tuples.back());
  }
  std::vector<FlowTable::MaybeFound> found(tuples.size());
  for (const std::size_t many : {64u, 1u, 0u, 17u}) {
    std::ranges::fill(found, FlowTable::MaybeFound());
    lane.table.find(std::span(tuples).first(many), found);
    for (std::size_t i = 0; i < many; ++i) {
      const auto one = lane.table.find(tuples[i]);
      ASSERT_EQ(static_cast<bool>(found[i]), one.has_value()) << i;
      ASSERT_EQ(one.has_value(), i % 3 != 0) << i;
      if (!one) continue;
      ASSERT_EQ((*found[i]).flow, one->flow) << i;
      ASSERT_EQ((*found[i]).direction, i % 2 == 0 ? 1 : 0) << i;
    }
  }
  EXPECT_LE(static_cast<double>(FlowTable::bytes_for(1'000'000)) / 1e6, 210);
}

/// The same in slow, obvious code.
struct Model {
  struct Flow {
    FlowTuple tuple;
    std::uint32_t deadline;
    bool established = false;
    std::uint32_t duration_ms = 0;
    std::array<std::uint64_t, 2> packets{}, bytes{};  ///< by direction
  };
  std::map<std::uint32_t, Flow> flows;  ///< by the table's number
  std::deque<std::uint32_t> ages;       ///< of those that are not established

  void remove(std::uint32_t flow) {
    flows.erase(flow);
    std::erase(ages, flow);
  }
};

class Both {
 public:
  explicit Both(std::uint32_t seed) : random_(seed) {}

  /// A batch of changes at `now`; true: it is taken back.
  void batch(std::uint64_t number, std::uint32_t now) {
    lane_.state.undo.begin(0, number);
    const std::vector<std::byte> before = lane_.copy();
    const Model model_before = model_;
    const std::uint32_t changes = random_() % 12;
    for (std::uint32_t i = 0; i < changes; ++i) change(now);
    expire(now);
    if (random_() % 3 == 0) {
      ASSERT_EQ(lane_.state.undo.undo(0, number), LaneUndoLog::Undone::kAll);
      ASSERT_EQ(lane_.copy(), before);
      model_ = model_before;
    }
    compare();
  }

 private:
  static constexpr std::uint32_t kFlows = 40, kTuples = 90;

  void change(std::uint32_t now) {
    const FlowTuple tuple = tuple_of(random_() % kTuples);
    const auto found = lane_.table.find(tuple);
    switch (found ? random_() % 6 : 5) {
      case 0:
        lane_.table.remove(found->flow);
        return model_.remove(found->flow);
      case 1:
        lane_.table.establish(found->flow);
        model_.flows[found->flow].established = true;
        std::erase(model_.ages, found->flow);
        return;
      case 2:
        model_.flows[found->flow].deadline = now + 1 + random_() % 3000;
        return lane_.table.set_deadline(found->flow, model_.flows[found->flow].deadline);
      case 3:
        return follow(found->flow, now);
      case 4:
        lane_.table.make_oldest(found->flow);
        model_.flows[found->flow].established = false;
        std::erase(model_.ages, found->flow);
        return model_.ages.push_front(found->flow);
      default:
        return insert(tuple, now + 1 + random_() % 3000);
    }
  }
  /// A packet of either direction, which may leave the deadline as it is.
  void follow(std::uint32_t number, std::uint32_t now) {
    Model::Flow& flow = model_.flows[number];
    const auto direction = static_cast<std::uint8_t>(random_() % 2);
    const std::uint32_t bytes = random_() % 1500;
    const std::uint32_t deadline = random_() % 3 == 0 ? 0 : now + 1 + random_() % 3000;
    flow.duration_ms = static_cast<std::uint32_t>(random_());
    flow.packets[direction] += 1;
    flow.bytes[direction] += bytes;
    if (deadline != 0) flow.deadline = deadline;
    FlowOwn own = lane_.table.entry(number).own;
    own.duration_ms = flow.duration_ms;
    lane_.table.follow(number, direction, own, bytes, deadline);
  }
  void insert(const FlowTuple& tuple, std::uint32_t deadline) {
    const bool there = std::ranges::any_of(
        model_.flows, [&](const auto& flow) { return flow.second.tuple == tuple; });
    const auto done = lane_.table.insert(tuple, reversed(tuple), deadline);
    ASSERT_EQ(done.what == Inserted::kThere, there);
    if (there) return;
    const bool full = model_.flows.size() == kFlows;
    ASSERT_EQ(done.given_up.has_value(), full && !model_.ages.empty());
    ASSERT_EQ(done.what == Inserted::kFull, full && model_.ages.empty());
    if (done.given_up) {
      ASSERT_EQ(*done.given_up, model_.ages.front());
      model_.remove(*done.given_up);
    }
    if (done.what != Inserted::kNew) return;
    model_.flows[done.flow] = {.tuple = tuple, .deadline = deadline};
    model_.ages.push_back(done.flow);
  }
  /// All that are due go, also those whose deadline has become sooner.
  void expire(std::uint32_t now) {
    lane_.table.expire(now, 1000, [&](std::uint32_t flow) {
      ASSERT_LE(model_.flows.at(flow).deadline, now);
      model_.remove(flow);
    });
    for (const auto& [number, flow] : model_.flows) ASSERT_GT(flow.deadline, now) << number;
  }
  void compare() {
    ASSERT_EQ(lane_.table.count(), model_.flows.size());
    for (std::uint32_t i = 0; i < kTuples; ++i) {
      const auto found = lane_.table.find(tuple_of(i));
      const auto flow = std::ranges::find_if(
          model_.flows, [&](const auto& one) { return one.second.tuple == tuple_of(i); });
      ASSERT_EQ(found.has_value(), flow != model_.flows.end());
      if (!found) continue;
      ASSERT_EQ(found->flow, flow->first);
      const FlowEntry& entry = lane_.table.entry(found->flow);
      const Model::Flow& wanted = flow->second;
      ASSERT_EQ(entry.deadline_s, wanted.deadline);
      ASSERT_EQ(entry.established == 1, wanted.established);
      ASSERT_EQ(entry.own.duration_ms, wanted.duration_ms);
      ASSERT_EQ(entry.sent.packets.value(), wanted.packets[0]);
      ASSERT_EQ(entry.sent.bytes.value(), wanted.bytes[0]);
      ASSERT_EQ(entry.answered.packets.value(), wanted.packets[1]);
      ASSERT_EQ(entry.answered.bytes.value(), wanted.bytes[1]);
    }
  }

  std::mt19937 random_;
  Lane lane_{kFlows, 4096};
  Model model_;
};

TEST(FlowTable, DoesWhatAListDoesAlsoWhenBatchesAreTakenBack) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Both both(seed);
    std::mt19937 random(seed);
    std::uint32_t now = 0;
    for (std::uint64_t number = 1; number < 300; ++number) {
      now += random() % 20 == 0 ? random() % 3000 : random() % 10;
      both.batch(number, now);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(FlowTable, EndsFlowsWhenTheirTimeComesAndNotBefore) {
  Lane lane(2000, 1 << 17);
  std::mt19937 random(5);
  std::map<std::uint32_t, std::uint32_t> ends;  // flow -> deadline
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::uint32_t deadline = 1 + random() % 5000;
    ends[lane.table.insert(tuple_of(i), reversed(tuple_of(i)), deadline).flow] = deadline;
  }
  for (std::uint32_t now = 0; now <= 5000; now += 1 + random() % 3) {
    lane.state.undo.begin(0, now);
    lane.table.expire(now, 100'000, [&](std::uint32_t flow) {
      EXPECT_LE(ends.at(flow), now);
      ends.erase(flow);
    });
    for (const auto& [flow, deadline] : ends) ASSERT_GT(deadline, now) << flow;
  }
  EXPECT_LE(lane.table.count(), ends.size());
}

TEST(FlowTable, OneCallChangesNoMoreLinesThanItSays) {
  std::mt19937 random(9);
  Lane lane(50);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    lane.state.undo.begin(0, i + 1);
    const auto done = lane.table.insert(tuple_of(i), reversed(tuple_of(i)), 1 + random() % 99);
    ASSERT_EQ(done.what, Inserted::kNew);
    const std::vector<std::byte> after = lane.copy();
    ASSERT_EQ(lane.state.undo.undo(0, i + 1), LaneUndoLog::Undone::kAll) << i;
    std::ranges::copy(after, lane.state.bytes.begin());
  }
}

}  // namespace
}  // namespace millrace
