// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/status_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using test::plan_of_text;
using test::SmallWorld;
using ::testing::HasSubstr;

std::string attach_error(std::byte* base, std::size_t bytes, const Plan& plan) {
  try {
    StatusView::attach(base, bytes, plan);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(StatusLayout, RegionsLieApartOnLinesInsideTheFile) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  const StatusLayout at = status_layout(plan);
  const std::uint64_t actors = plan.actors.size();
  std::uint64_t function_counters = kSpareCounterCount;
  for (const PlanFunction& function : plan.functions) function_counters += function.counter_count;
  const std::uint64_t lanes = 6;
  const std::uint64_t streams = 2;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all = {
      {0, sizeof(StatusHeader)},
      {at.actors, actors * 256},
      {at.counters, actors * 64 * 8},
      {at.ledgers, streams * lanes * 1088},
      {at.ingress_lanes, streams * lanes * 64},
      {at.lane_maps, plan.groups.size() * 128},
      {at.latency, streams * sizeof(LatencyHistogram)},
      {at.function_counters, actors * function_counters * 8},
      {at.skips, actors * kFunctionPlaceMax * kSkipReasonCount * 8},
      {at.stage_latency,
       actors * (plan.stages.size() + plan.paths.size()) * sizeof(LatencyHistogram)},
      {at.tallies, actors * kFunctionPlaceMax * sizeof(FunctionTally)},
      {at.actor_tallies, actors * sizeof(ActorTally)},
      {at.stream_peaks, streams * sizeof(StreamPeaks)},
      {at.links, plan.links.size() * sizeof(LinkTally)},
      {at.ports, plan.ports.size() * sizeof(PortTally)}};
  std::sort(all.begin(), all.end());
  std::uint64_t end = 0;
  for (const auto& [start, bytes] : all) {
    EXPECT_EQ(start % kCacheLine, 0u) << start;
    EXPECT_GE(start, end);
    end = start + bytes;
  }
  EXPECT_GE(at.bytes, end);
  EXPECT_EQ(at.function_counter_count, function_counters);
}

TEST(StatusLayout, EveryActorsFunctionCountersLieApart) {
  const SmallWorld world;
  EXPECT_EQ(function_counter_first(world.plan, 0), 0u);
  EXPECT_EQ(function_counter_first(world.plan, 2), 4u);  // two functions of two counters each
  std::unordered_set<const std::uint64_t*> places;
  std::size_t asked = 0;
  for (std::uint32_t actor = 0; actor < world.plan.actors.size(); ++actor) {
    for (std::uint32_t f = 0; f < world.plan.functions.size(); ++f) {
      const auto first = function_counter_first(world.plan, f);
      const auto counters =
          world.status.function_counters(actor, first, world.plan.functions[f].counter_count);
      for (const std::uint64_t& counter : counters) places.insert(&counter);
      asked += counters.size();
    }
  }
  EXPECT_EQ(places.size(), asked);
}

TEST(StatusLayout, TotalsOfALaneHaveWhatItsIngressRefused) {
  const SmallWorld world;
  LaneLedger& ledger = world.status.ledger(0, 1);
  ledger.record[0].received = 10;
  ledger.record[0].received_bytes = 600;
  ledger.record[0].dropped[static_cast<std::size_t>(Reason::kOverload)] = 1;
  world.status.ingress_lane(0, 1).refused.add(4, 240, 0);
  const LaneRecord totals = read_totals(world.status, 0, 1);
  EXPECT_EQ(totals.received, 14u);
  EXPECT_EQ(totals.received_bytes, 840u);
  EXPECT_EQ(totals.dropped[static_cast<std::size_t>(Reason::kOverload)], 5u);
  EXPECT_EQ(read_totals(world.status, 0, 0).received, 0u);
}

TEST(StatusLayout, ARefusalCountsFromItsFlipOnAndTheRecordBeforeStays) {
  const SmallWorld world;
  RefusedLedger& refused = world.status.ingress_lane(0, 1).refused;
  refused.add(4, 240, 10);
  refused.add(1, 60, 11);
  EXPECT_EQ(refused.complete().packets, 5u);
  EXPECT_EQ(refused.complete().bytes, 300u);
  EXPECT_EQ(refused.complete().position, 11u);
  const RefusedRecord& before = refused.record[(refused.flips + 1) & 1];
  EXPECT_EQ(before.packets, 4u);
  EXPECT_EQ(before.position, 10u);
}

TEST(StatusLayout, ANewFileNamesItsTopologyAndGivesNoLaneAWorker) {
  const SmallWorld world;
  const StatusHeader& header = world.status.header();
  EXPECT_STREQ(header.name, "small");
  EXPECT_EQ(header.tsc_hz, 1'000'000'000u);
  EXPECT_EQ(header.actor_count, world.plan.actors.size());
  EXPECT_EQ(header.lane_count, 6u);
  for (std::uint32_t group = 0; group < world.plan.groups.size(); ++group) {
    for (const auto& worker : world.status.lane_map(group).worker) {
      EXPECT_EQ(worker.load(), kNoWorker);
    }
  }
}

TEST(StatusLayout, QueuesThatAPortHasReadTheSharesOfThoseThatItMayGet) {
  const SmallWorld world(
      "millrace: 1\nname: small\n"
      "ports:\n"
      "  a: { device: afpacket, interface: x, queues: 2, queues_max: 5 }\n"
      "  b: { device: afpacket, interface: y, queues_max: 3 }\n"
      "  c: { device: afpacket, interface: z, queues: 2 }\n"
      "  d: { device: \"null\" }\n"
      "paths: { one: { from: [a, b, c, d], run: [], to: d } }\n");
  const std::pair<const char*, const char*> readers[] = {
      {"ingress.a.0", "ingress.a.0"}, {"ingress.a.1", "ingress.a.1"},
      {"ingress.a.2", "ingress.a.0"}, {"ingress.a.3", "ingress.a.1"},
      {"ingress.a.4", "ingress.a.0"}, {"ingress.b.0", "ingress.b.0"},
      {"ingress.b.1", "ingress.b.0"}, {"ingress.b.2", "ingress.b.0"},
      {"ingress.c.0", "ingress.c.0"}, {"ingress.c.1", "ingress.c.1"},
      {"ingress.d.0", "ingress.d.0"}};
  for (const auto& [share, reader] : readers) {
    EXPECT_EQ(world.entry(share).share_reader, world.actor(reader)) << share;
    EXPECT_EQ(world.entry(share).share_wanted, 0u) << share;
    EXPECT_EQ(world.entry(share).share_joined, 0u) << share;
    EXPECT_NE(world.actor(reader), 0u) << "0 says that it is as wanted";
  }
  EXPECT_EQ(world.entry("egress.0").share_reader, 0u);
}

TEST(StatusLayout, ANameOfFullLengthStaysTerminated) {
  Plan plan = plan_of_text(test::kTwoPaths);
  plan.name = std::string(100, 'n');
  const Mapping memory = Mapping::create_anonymous(status_layout(plan).bytes);
  const StatusView view = StatusView::create(memory.base(), plan, 1);
  EXPECT_EQ(std::string(view.header().name), std::string(63, 'n'));
}

TEST(StatusLayout, AttachingRefusesWhatIsNotReadyOrLaidOutOtherwise) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  const std::size_t bytes = status_layout(plan).bytes;
  const Mapping memory = Mapping::create_anonymous(bytes);
  EXPECT_EQ(attach_error(memory.base(), bytes, plan),
            "the status file is not ready: awaits magic MIRSTAT1 of the hub");
  StatusView::create(memory.base(), plan, 1);
  EXPECT_EQ(attach_error(memory.base(), bytes, plan), "no error");
  EXPECT_THAT(attach_error(memory.base(), bytes + 64, plan), HasSubstr("awaits status layout"));
  Plan other = plan;
  other.functions[0].counter_count += 8;
  EXPECT_THAT(attach_error(memory.base(), bytes, other), HasSubstr("start it with one build"));
}

TEST(StatusLayout, AFunctionThatComesHasItsCountersFromThoseToSpare) {
  const Plan plan = plan_of_text(test::kTwoPaths);
  Plan next = plan;
  next.functions.push_back({.name = "more", .counter_count = 100});
  next.spare_counters -= 100;
  EXPECT_EQ(status_layout(next).hash, status_layout(plan).hash);
  EXPECT_EQ(function_counter_first(next, 3), function_counter_first(plan, 3));
}

TEST(StatusLayout, ARecordIsReadWholeWhileItsWriterFlipsAMillionTimes) {
  const SmallWorld world;
  LaneLedger& ledger = world.status.ledger(0, 1);
  constexpr std::uint64_t kFlips = 1'000'000;
  std::thread writer([&] {
    for (std::uint64_t flip = 1; flip <= kFlips; ++flip) {
      auto* words = reinterpret_cast<std::uint64_t*>(&ledger.record[flip & 1]);
      for (std::size_t i = 0; i < sizeof(LaneRecord) / 8; ++i) {
        std::atomic_ref(words[i]).store(flip, std::memory_order_relaxed);
      }
      ledger.flips.store(flip, std::memory_order_release);
    }
  });
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
  std::uint64_t last = 0;
  while (last < kFlips) {
    const LaneRecord record = read_record(ledger);
    std::uint64_t words[sizeof record / 8];
    std::memcpy(words, &record, sizeof record);
    for (const std::uint64_t word : words) torn += word != words[0] ? 1 : 0;
    backwards += words[0] < last ? 1 : 0;
    last = words[0];
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(backwards, 0u);
}

TEST(StatusLayout, TheFileIsNamedForItsTopology) {
  EXPECT_EQ(status_file_name("branch"), "/millrace-branch.status");
}

}  // namespace
}  // namespace millrace
