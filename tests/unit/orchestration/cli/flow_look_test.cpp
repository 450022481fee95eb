// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/flow_look.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "shared/base/error.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kFlows = 64;

/// A table as a worker has it, and as a reader of its memory does.
class FlowLookTest : public ::testing::Test {
 protected:
  static FlowTuple tuple_of(std::uint16_t number) {
    return {{10, 1, 0, 5}, {192, 0, 2, 9}, number, number, 17, 4, 0};
  }
  FlowTable worker() const { return {LaneState{.bytes = bytes_}, kFlows, {1, 2}}; }
  FlowTable reader() const { return FlowTable::of_reader(bytes_, kFlows).value(); }
  FlowEntry& entry(std::uint32_t flow) const {
    return const_cast<FlowEntry&>(worker().entry(flow));
  }

  Mapping memory_ = Mapping::create_anonymous(FlowTable::bytes_for(kFlows));
  std::span<std::byte> bytes_{memory_.base(), FlowTable::bytes_for(kFlows)};
};

TEST_F(FlowLookTest, ATableThatNobodyHasUsedIsNone) {
  EXPECT_FALSE(FlowTable::of_reader(bytes_, kFlows));
  FlowTable table = worker();
  EXPECT_TRUE(FlowTable::of_reader(bytes_, kFlows));
  EXPECT_FALSE(FlowTable::of_reader(bytes_.first(1000), kFlows));
  EXPECT_FALSE(FlowTable::of_reader(bytes_, 0));
  EXPECT_EQ(table.count(), 0u);
}

TEST_F(FlowLookTest, SaysWhatAnEntryHas) {
  FlowTable table = worker();
  FlowTuple answer = reversed(tuple_of(7));
  answer.destination = {203, 0, 113, 1};
  const std::uint32_t flow = table.insert(tuple_of(7), answer, 90).flow;
  table.count(flow, 0, 3, 300);
  table.count(flow, 1, 2, 2000);
  FlowOwn& own = table.change_own(flow);
  own.started_ms = 50'000;
  own.duration_ms = 1'500;
  const auto entry = read_flow(reader(), flow);
  ASSERT_TRUE(entry);
  FlowLine line = flow_line_of(*entry);
  EXPECT_EQ(line.tuple, tuple_of(7));
  EXPECT_EQ(line.answer, answer);
  EXPECT_TRUE(line.is_translated());
  EXPECT_EQ(line.packets, (std::array<std::uint64_t, 2>{3, 2}));
  EXPECT_EQ(line.bytes, (std::array<std::uint64_t, 2>{300, 2000}));
  EXPECT_EQ(line.started_ms, 50'000u);
  EXPECT_EQ(line.lasted_ms, 1'500u);
  EXPECT_EQ(line.deadline_ms, 90'000u);
  EXPECT_EQ(line.state, "new");
  EXPECT_FALSE(line.is_assured);
  table.change_own(flow).answered = 1;
  table.establish(flow);
  line = flow_line_of(*read_flow(reader(), flow));
  EXPECT_EQ(line.state, "established");
  EXPECT_TRUE(line.is_assured);
}

TEST_F(FlowLookTest, OfTcpTheStateIsThatOfItsTrack) {
  FlowTable table = worker();
  FlowTuple tcp = tuple_of(7);
  tcp.protocol = 6;
  const std::uint32_t flow = table.insert(tcp, reversed(tcp), 90).flow;
  const char* const states[] = {"new",      "syn_sent",   "syn_recv", "established",
                                "fin_wait", "close_wait", "last_ack", "time_wait",
                                "close",    "syn_sent2",  "new"};
  for (std::uint16_t i = 0; i < 11; ++i) {
    table.change_own(flow).tcp.state = i;
    EXPECT_EQ(flow_line_of(*read_flow(reader(), flow)).state, states[i]);
  }
}

TEST_F(FlowLookTest, WhatIsHalfWrittenIsNoFlow) {
  FlowTable table = worker();
  const std::uint32_t flow = table.insert(tuple_of(7), reversed(tuple_of(7)), 90).flow;
  ASSERT_TRUE(read_flow(reader(), flow));
  EXPECT_FALSE(read_flow(reader(), flow + 1));
  entry(flow).tuple.source_port = 8;  // no reference leads to it
  EXPECT_FALSE(read_flow(reader(), flow));
  entry(flow).tuple.source_port = 7;
  entry(flow).used = 2;
  EXPECT_FALSE(read_flow(reader(), flow));
  entry(flow).used = 1;
  entry(flow).answer.version = 0;
  EXPECT_FALSE(read_flow(reader(), flow));
  entry(flow).answer.version = 4;
  EXPECT_TRUE(read_flow(reader(), flow));
  table.remove(flow);
  EXPECT_FALSE(read_flow(reader(), flow));
}

TEST_F(FlowLookTest, ReadsWholeFlowsWhileTheyComeAndGo) {
  FlowTable table = worker();
  std::atomic<bool> done{false};
  std::thread writer([&] {
    std::uint16_t number = 1;
    for (int i = 0; i < 100'000; ++i, number = number % 500 + 1) {
      const auto made = table.insert(tuple_of(number), reversed(tuple_of(number)), 90);
      if (made.what == FlowTable::Inserted::kThere) table.remove(made.flow);
    }
    done = true;
  });
  std::uint64_t read = 0;
  while (!done || read == 0) {
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
      const auto entry = read_flow(reader(), flow);
      if (!entry) continue;
      ++read;
      EXPECT_EQ(entry->tuple, tuple_of(entry->tuple.source_port));
      EXPECT_EQ(entry->answer, reversed(entry->tuple));
    }
  }
  writer.join();
}

TEST(FlowLanes, AreThoseOfPathsThatTrack) {
  Plan plan;
  plan.name = "edge";
  const auto error = [&](const std::string& function) -> std::string {
    try {
      flow_lanes(plan, function);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(error("").find("topology 'edge' tracks no connections"), std::string::npos);
  plan.functions = {{.name = "wall", .type = "acl"},
                    {.name = "track", .type = "flow"},
                    {.name = "more", .type = "flow"}};
  plan.paths = {{.name = "a", .lane_first = 0, .lane_count = 2},
                {.name = "b", .lane_first = 2, .lane_count = 1}};
  plan.stages = {{.path = 0, .functions = {1, 0}}, {.path = 1, .functions = {2}}};
  EXPECT_NE(error("trak").find("did you mean 'track'?"), std::string::npos);
  EXPECT_NE(error("wall"), "");
  const auto all = flow_lanes(plan, "");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].function, 1u);
  EXPECT_EQ(all[1].lane, 1u);
  EXPECT_EQ(all[2].path, 1u);
  EXPECT_EQ(all[2].lane, 2u);
  EXPECT_EQ(flow_lanes(plan, "more").size(), 1u);
}

}  // namespace
}  // namespace millrace
