// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The flow table beside rte_hash with the same keys and the same look-ups, in one run: items are
// look-ups of flows in random order, one at a time and 64 at once, and set-ups. Memory a flow is a
// column. Without a table that fits the caches, memory is what is measured: look at the sizes.

#include <benchmark/benchmark.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_memory.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "services/functions/builder/private_eal.hpp"
#include "services/functions/flow/flow.hpp"
#include "services/functions/flow/flow_table.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::size_t kLookups = 1 << 16;
constexpr std::size_t kMany = FlowTable::kManyMax;

FlowTuple tuple_of(std::uint32_t number) {
  FlowTuple tuple{.source_port = static_cast<std::uint16_t>(number),
                  .destination_port = 443,
                  .protocol = 6,
                  .version = 4};
  for (std::size_t i = 0; i < 4; ++i) {
    tuple.source[i] = static_cast<std::uint8_t>(number * 2'654'435'761u >> 8 * i);
  }
  tuple.destination[0] = 10;
  return tuple;
}

/// Both directions of random flows of `count`.
std::vector<FlowTuple> asked(std::uint32_t count) {
  std::mt19937 random(1);
  std::vector<FlowTuple> tuples(kLookups);
  for (FlowTuple& tuple : tuples) {
    tuple = tuple_of(static_cast<std::uint32_t>(random() % count));
    if (random() % 2 == 0) tuple = reversed(tuple);
  }
  return tuples;
}

struct Table {
  explicit Table(std::uint32_t flows)
      : memory(Mapping::create_anonymous(FlowTable::bytes_for(flows))),
        table({{memory.base(), FlowTable::bytes_for(flows)}, {}}, flows, {1, 2}) {}
  Mapping memory;
  FlowTable table;
};

std::unique_ptr<Table> filled(std::uint32_t flows) {
  auto made = std::make_unique<Table>(flows);
  for (std::uint32_t i = 0; i < flows; ++i) {
    made->table.insert(tuple_of(i), reversed(tuple_of(i)), 30 + i % 900);
  }
  return made;
}

void flow_table(benchmark::State& state, bool many) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  const std::unique_ptr<Table> made = filled(flows);
  const std::vector<FlowTuple> tuples = asked(flows);
  std::vector<FlowTable::MaybeFound> found(kMany);
  std::uint64_t hits = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLookups; i += kMany) {
      const auto some = std::span(tuples).subspan(i, kMany);
      if (many) {
        made->table.find(some, found);
      } else {
        std::ranges::transform(some, found.begin(), [&](const FlowTuple& tuple) {
          const auto one = made->table.find(tuple);
          return one ? FlowTable::MaybeFound(*one) : FlowTable::MaybeFound();
        });
      }
      for (const auto& one : found) hits += one ? 1 : 0;
    }
  }
  const auto looked = static_cast<std::uint64_t>(state.iterations()) * kLookups;
  if (hits != looked) state.SkipWithError("a flow was not found");
  state.SetItemsProcessed(static_cast<std::int64_t>(looked));
  state.counters["bytes_a_flow"] = static_cast<double>(FlowTable::bytes_for(flows)) / flows;
}

void rte_hash_table(benchmark::State& state) {
  start_private_eal();
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  rte_hash_parameters parameters{};
  parameters.name = "flows";
  parameters.entries = 2 * flows;  // a key for each direction
  parameters.key_len = sizeof(FlowTuple);
  parameters.hash_func = rte_hash_crc;
  rte_hash* const hash = rte_hash_create(&parameters);
  if (hash == nullptr) return state.SkipWithError("rte_hash_create failed");
  for (std::uint32_t i = 0; i < flows; ++i) {
    const FlowTuple one = tuple_of(i), other = reversed(one);
    if (rte_hash_add_key(hash, &one) < 0 || rte_hash_add_key(hash, &other) < 0) {
      rte_hash_free(hash);
      return state.SkipWithError("rte_hash_add_key failed");
    }
  }
  const std::vector<FlowTuple> tuples = asked(flows);
  std::vector<const void*> keys;
  keys.reserve(tuples.size());
  for (const FlowTuple& tuple : tuples) keys.push_back(&tuple);
  std::vector<std::int32_t> places(kMany);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLookups; i += kMany) {
      rte_hash_lookup_bulk(hash, &keys[i], kMany, places.data());
    }
    benchmark::DoNotOptimize(places.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLookups));
  rte_hash_free(hash);
}

/// Set-ups in a full table: each gives up the oldest.
void flow_setups(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  const std::unique_ptr<Table> made = filled(flows);
  std::uint32_t number = flows;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLookups; ++i, ++number) {
      made->table.insert(tuple_of(number), reversed(tuple_of(number)), 30 + number % 900);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLookups));
}

/// A frame of UDP of 64 bytes (60 without FCS) of flow `number`.
std::vector<std::byte> frame_of(std::uint32_t number, bool answers) {
  FlowTuple tuple = tuple_of(number);
  if (answers) tuple = reversed(tuple);
  std::vector<std::byte> frame(60);
  wire_bytes::put16(frame, 12, 0x0800);
  wire_bytes::put8(frame, 14, 0x45);
  wire_bytes::put16(frame, 16, 46);
  wire_bytes::put8(frame, 23, 17);
  for (std::size_t i = 0; i < 4; ++i) {
    wire_bytes::put8(frame, 26 + i, tuple.source[i]);
    wire_bytes::put8(frame, 30 + i, tuple.destination[i]);
  }
  wire_bytes::put16(frame, 34, tuple.source_port);
  wire_bytes::put16(frame, 36, tuple.destination_port);
  wire_bytes::put16(frame, 38, 60 - 34);
  return frame;
}

/// The whole function over batches of 64: headers, look-up, counts, deadline, undo log.
void flow_function(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  const PlanFunction plan{.name = "flow",
                          .type = "flow",
                          .settings = {{"max", std::to_string(flows)}, {"udp", "1000000"}}};
  const LaneNeeds needs = flow_type().traits.lane_needs({.settings = plan.settings});
  const std::uint64_t log = LaneUndoLog::bytes_for(needs.undo_lines);
  const Mapping memory = Mapping::create_anonymous(needs.state_bytes + log);
  const std::span<std::byte> bytes(memory.base(), needs.state_bytes);
  const LaneState lane{bytes,
                       LaneUndoLog({bytes.data() + bytes.size(), log}, needs.undo_lines, bytes)};
  const auto function = flow_type().make({.function = plan, .ports = {}});
  StageRunner runner({{.function = function.get()}});
  BatchArena arena(kBatchCapacityDefault);
  std::uint64_t sequence = 0;
  const auto run = [&](const auto& frame_at) {
    arena.clear();
    for (std::size_t i = 0; i < kBatchCapacityDefault; ++i) arena.add(frame_at(i));
    lane.undo.begin(0, ++sequence);
    runner.run(arena.batch(), {&lane, 1}, {.now_ns = 1'000'000'000});
  };
  for (std::uint32_t first = 0; first < flows; first += kBatchCapacityDefault) {
    run([&](std::size_t i) {
      return frame_of(first + static_cast<std::uint32_t>(i) % (flows - first), false);
    });
  }
  std::mt19937 random(1);
  std::vector<std::vector<std::byte>> frames;
  for (std::size_t i = 0; i < kLookups; ++i) {
    frames.push_back(frame_of(static_cast<std::uint32_t>(random() % flows), random() % 2 == 0));
  }
  for (auto _ : state) {
    for (std::size_t first = 0; first < kLookups; first += kBatchCapacityDefault) {
      run([&](std::size_t i) -> const auto& { return frames[first + i]; });
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLookups));
}

constexpr std::int64_t kSizes[] = {10'000, 1'000'000, 10'000'000};
void sizes(benchmark::internal::Benchmark* bench) {
  for (const std::int64_t flows : kSizes) bench->Arg(flows);
  bench->ArgName("flows");
}
BENCHMARK_CAPTURE(flow_table, one_by_one, false)->Apply(sizes);
BENCHMARK_CAPTURE(flow_table, 64_at_once, true)->Apply(sizes);
BENCHMARK(rte_hash_table)->Apply(sizes);
BENCHMARK(flow_setups)->Apply(sizes);
BENCHMARK(flow_function)->Apply(sizes);

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
