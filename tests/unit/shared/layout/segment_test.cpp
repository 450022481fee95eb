// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/segment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/support/error_of.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::error_of;

using test::plan_of_text;
using test::SmallWorld;
using ::testing::HasSubstr;

struct Region {
  std::string name;
  std::uint64_t start, bytes;
};

std::size_t ring_bytes(std::size_t element, std::uint32_t depth) {
  return static_cast<std::size_t>(rte_ring_get_memsize_elem(static_cast<unsigned>(element), depth));
}

std::vector<Region> ring_regions(const Plan& plan, const SegmentLayout& at) {
  std::vector<Region> all;
  for (std::size_t i = 0; i < plan.links.size(); ++i) {
    all.push_back({"link " + std::to_string(i), at.links[i], ring_bytes(8, plan.links[i].depth)});
  }
  for (std::size_t i = 0; i < at.slot_returns.size(); ++i) {
    const std::size_t stream = i / kReturnerCount;
    all.push_back({"slot return " + std::to_string(i), at.slot_returns[i],
                   ring_bytes(8, at.slot_return_depth[stream])});
    all.push_back({"buffer return " + std::to_string(i), at.buffer_returns[i],
                   ring_bytes(4, at.buffer_return_depth[stream])});
  }
  return all;
}

/// Every region with the size that its content needs, counted here from the plan.
std::vector<Region> regions(const Plan& plan) {
  const SegmentLayout at = segment_layout(plan);
  std::vector<Region> all = ring_regions(plan, at);
  std::uint64_t lanes = 0, stateful = 0, gpus = 0, state_bytes = 0;
  for (const PlanPath& path : plan.paths) lanes += path.lane_count;
  for (const PlanStage& stage : plan.stages) stateful += stage.stateful ? 1 : 0;
  for (const PlanActor& actor : plan.actors) gpus += actor.kind == ActorKind::kGpu ? 1 : 0;
  for (const PlanStage& stage : plan.stages) {  // no function is in two paths
    for (const std::uint32_t number : stage.functions) {
      const PlanFunction& function = plan.functions[number];
      state_bytes += ((function.lane_state_bytes + 63) / 64 * 64 +
                      LaneUndoLog::bytes_for(function.lane_undo_lines)) *
                     plan.paths[stage.path].lane_count;
    }
  }
  const std::uint64_t slots = plan.slot_count + plan.stand_in_slot_count;
  all.push_back({"header", 0, sizeof(SegmentHeader)});
  all.push_back({"marks", at.marks, 4ull * plan.buffer_count});
  all.push_back({"slots", at.slots, slots * column_offsets(plan.batch_capacity).slot_bytes});
  all.push_back({"windows", at.lane_windows, stateful * plan.streams.size() * lanes * 64});
  all.push_back({"states", at.lane_states, state_bytes});
  all.push_back({"results", at.gpu_results, gpus * slots * plan.batch_capacity * 8 * 4});
  all.push_back({"buffers", at.buffers, std::uint64_t{plan.buffer_count} * plan.buffer_stride});
  return all;
}

TEST(Segment, RegionsLieApartOnLinesInsideTheSegment) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  std::vector<Region> all = regions(plan);
  std::sort(all.begin(), all.end(), [](const Region& a, const Region& b) {
    return a.start != b.start ? a.start < b.start : a.bytes < b.bytes;
  });
  std::uint64_t end = 0;
  for (const Region& region : all) {
    EXPECT_EQ(region.start % kCacheLine, 0u) << region.name;
    EXPECT_GE(region.start, end) << region.name;
    end = region.start + region.bytes;
  }
  const SegmentLayout at = segment_layout(plan);
  EXPECT_GE(at.bytes, end);
  EXPECT_EQ(at.bytes % kHugePage, 0u);
  EXPECT_EQ(at.buffers % kHugePage, 0u);
}

TEST(Segment, ReturnRingsHoldAllSlotsAndBuffersOfTheirStream) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  const SegmentLayout at = segment_layout(plan);
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    EXPECT_GT(at.slot_return_depth[s], plan.streams[s].slot_count);
    EXPECT_GT(at.buffer_return_depth[s], plan.streams[s].buffer_count);
  }
}

TEST(Segment, WhatIsNewlyMadeLiesInTheIngressesHand) {
  const SmallWorld world;
  for (std::uint32_t s = 0; s < world.plan.streams.size(); ++s) {
    const PlanStream& stream = world.plan.streams[s];
    for (std::uint32_t i = 0; i < stream.slot_count; ++i) {
      EXPECT_EQ(world.owner_of(stream.slot_first + i).actor, stream.ingress);
      EXPECT_EQ(world.slot_state(stream.slot_first + i).kind, SlotKind::kFree);
    }
    for (std::uint32_t i = 0; i < stream.buffer_count; ++i) {
      EXPECT_EQ(Mark::from_word(world.segment.mark(stream.buffer_first + i)),
                (Mark{MarkKind::kHand, stream.ingress}));
    }
    for (const Returner from : {Returner::kEgress, Returner::kHub, Returner::kStandby}) {
      EXPECT_TRUE(world.segment.slot_return(s, from).empty());
      EXPECT_TRUE(world.segment.buffer_return(s, from).empty());
    }
  }
  for (std::uint32_t i = 0; i < world.plan.links.size(); ++i) {
    EXPECT_TRUE(world.segment.link(i).empty());
  }
}

TEST(Segment, EveryLaneStateWindowAndResultAreaIsAPlaceOfItsOwn) {
  const SmallWorld world;
  std::unordered_set<const void*> places;
  std::size_t asked = 0;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {  // those of the path that runs it
    const auto state = world.segment.lane_state(world.plan, 2, lane);
    EXPECT_EQ(state.size(), 96u);
    places.insert(state.data());
    places.insert(state.data() + state.size() - 1);
    places.insert(&world.segment.lane_window(2, 0, lane));
    places.insert(&world.segment.lane_window(2, 1, lane));
    asked += 4;
  }
  for (std::uint32_t gpu = 0; gpu < 2; ++gpu) {
    for (std::uint32_t slot = 0; slot < world.segment.slot_count(); ++slot) {
      places.insert(world.segment.gpu_results(gpu, slot));
      ++asked;
    }
  }
  EXPECT_EQ(places.size(), asked);
}

TEST(Segment, GpuActorsAreNumberedInTheOrderOfThePlan) {
  const SmallWorld world;
  EXPECT_EQ(gpu_number(world.plan, world.actor("gpu.0.a")), 0u);
  EXPECT_EQ(gpu_number(world.plan, world.actor("gpu.0.b")), 1u);
}

TEST(Segment, AttachingFindsWhatTheHubMade) {
  Plan plan = plan_of_text(test::kTwoPaths);
  const std::size_t bytes = segment_layout(plan).bytes;
  const Mapping memory = Mapping::create_anonymous(bytes);
  const SegmentView made = SegmentView::create(memory.base(), plan);
  const std::uint64_t word = 77;
  ASSERT_TRUE(made.link(3).push({&word, 1}));
  const SegmentView found = SegmentView::attach(memory.base(), bytes, plan);
  EXPECT_EQ(found.link(3).size(), 1u);
  EXPECT_EQ(&found.slot(5), &made.slot(5));
}

TEST(Segment, AttachingRefusesWhatIsNotReadyOrLaidOutOtherwise) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  const std::size_t bytes = segment_layout(plan).bytes;
  const Mapping memory = Mapping::create_anonymous(bytes);
  const auto attach = [&](const Plan& with, std::size_t size) {
    return error_of([&] { SegmentView::attach(memory.base(), size, with); });
  };
  EXPECT_EQ(attach(plan, bytes), "the segment is not ready: awaits magic MIRSEG1 of the hub");
  SegmentView::create(memory.base(), plan);
  EXPECT_EQ(attach(plan, bytes), "no error");
  EXPECT_THAT(attach(plan, bytes - kHugePage), HasSubstr("this build awaits layout "));
  Plan other = plan;
  other.buffer_stride += 64;
  EXPECT_THAT(attach(other, bytes), HasSubstr("the segment has "));
  auto& header = *reinterpret_cast<SegmentHeader*>(memory.base());
  header.abi = kSegmentAbi + 1;
  EXPECT_EQ(attach(plan, bytes), "this build awaits segment ABI " + std::to_string(kSegmentAbi) +
                                     ", the segment has " + std::to_string(kSegmentAbi + 1) +
                                     "; end the topology and start it with one build");
}

TEST(Segment, TheHashTellsLayoutsApart) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  std::set<std::uint64_t> hashes{segment_layout(plan).hash};
  Plan other = plan;
  other.batch_capacity = 16;
  hashes.insert(segment_layout(other).hash);
  other = plan;
  other.links.pop_back();
  hashes.insert(segment_layout(other).hash);
  other = plan;
  other.buffer_count += 64;
  hashes.insert(segment_layout(other).hash);
  other = plan;
  other.stand_in_slot_count += 1;
  hashes.insert(segment_layout(other).hash);
  EXPECT_EQ(hashes.size(), 5u);
  EXPECT_EQ(segment_layout(plan_of_text(test::kTwoPaths)).hash, segment_layout(plan).hash);
}

}  // namespace
}  // namespace millrace
