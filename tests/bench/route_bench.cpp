// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// route over batches of 64-byte packets, nanoseconds a packet: all of it (select, prefetch,
// compute, finish) by table and by share of packets that are not ordinary; and look-ups alone
// beside rte_fib with the same prefixes and addresses in the same run. 16 batches take turns, as
// slots do.

#include <benchmark/benchmark.h>
#include <rte_fib.h>
#include <rte_memory.h>

#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "services/functions/builder/private_eal.hpp"
#include "services/functions/route/route.hpp"
#include "services/functions/route/route_compute.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/route_text.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBatches = 16;
constexpr int kRunsPerFill = 200;  ///< a packet of TTL 255 survives so many

/// `count` different /24 prefixes spread over the unicast space, or one /0.
struct Table {
  explicit Table(std::size_t count) : routes(text(count), {}) {}

  static std::string text(std::size_t count) {
    if (count == 1) return "0.0.0.0/0 p0 02:00:00:00:00:01\n";
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      all += ipv4_text(prefix(i)) + "/24 p" + std::to_string(i % 4) +
             " 02:00:00:00:00:" + std::to_string(10 + i % 80) + "\n";
    }
    return all;
  }
  static std::uint32_t prefix(std::size_t i) {
    // An odd factor permutes the 2^22 networks of 128.0.0.0/2.
    return 0x80000000u | static_cast<std::uint32_t>(i * 2'654'435u & 0x3fffff) << 8;
  }
  BuiltRoutes routes;
};

const Table& table_of(std::size_t count) {
  static const Table kOne(1), kSmall(100), kLarge(900'000);
  return count == 1 ? kOne : count == 100 ? kSmall : kLarge;
}

std::vector<std::uint32_t> addresses_of(std::size_t count, std::size_t wanted) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> addresses(wanted);
  for (std::uint32_t& address : addresses) {
    address = Table::prefix(random() % count) | (random() & 255);
  }
  return addresses;
}

void fill(std::deque<BatchArena>& arenas, std::size_t prefixes, long odd_percent) {
  std::mt19937 random(2);
  const auto addresses = addresses_of(prefixes, kBatches * kBatchCapacityDefault);
  std::size_t next = 0;
  for (BatchArena& arena : arenas) {
    arena.clear();
    while (!arena.full()) {
      FrameSpec spec{.destination = addresses[next++], .ttl = 255};
      if (static_cast<long>(random() % 100) < odd_percent) spec.option_words = 1;
      arena.add(make_frame(spec));
    }
  }
}

void route(benchmark::State& state) {
  const auto prefixes = static_cast<std::size_t>(state.range(0));
  const FunctionType type = route_type();
  const auto function = type.make(table_of(prefixes).routes.context());
  std::vector<std::uint64_t> hits(table_of(prefixes).routes.report().counter_count);
  StageRunner runner(
      {{.function = function.get(), .regions = type.traits.regions, .counters = {hits}}});
  std::deque<BatchArena> arenas(kBatches);
  std::vector<Batch> batches;
  fill(arenas, prefixes, state.range(1));
  for (const BatchArena& arena : arenas) batches.push_back(arena.batch());
  int runs = 0;
  for (auto _ : state) {
    for (const Batch& batch : batches) runner.run(batch, {});
    if (++runs % kRunsPerFill == 0) {
      state.PauseTiming();
      fill(arenas, prefixes, state.range(1));
      state.ResumeTiming();
    }
  }
  for (const Batch& batch : batches) {
    if (!batch.passes(0)) state.SkipWithError("a packet was dropped");
  }
  state.SetItemsProcessed(state.iterations() * kBatches * kBatchCapacityDefault);
}
BENCHMARK(route)->ArgsProduct({{1, 100, 900'000}, {0, 10}})->ArgNames({"prefixes", "odd_percent"});

/// One of the two passes alone, over packets whose first lines are in the cache.
void route_pass(benchmark::State& state, bool finishes) {
  const BuiltRoutes& routes = table_of(100).routes;
  const auto rewrites = resolve_hops(routes.table(), {});
  std::vector<std::uint64_t> hits(routes.report().counter_count);
  std::deque<BatchArena> arenas(1);
  fill(arenas, 100, 0);
  const Batch batch = arenas[0].batch();
  std::vector<std::uint16_t> packets(batch.count);
  std::iota(packets.begin(), packets.end(), std::uint16_t{0});
  const std::span<const std::uint16_t> all(packets);
  const auto compute = [&] {
    for (std::size_t at = 0; at < all.size(); at += 16) {
      route_compute(routes.table(), batch, all.subspan(at, 16), batch.results(0));
    }
  };
  compute();
  for (auto _ : state) {
    if (finishes) {
      // The checksum goes wrong; nobody looks at it.
      route_finish(rewrites, batch, all, batch.results(0), {hits});
    } else {
      compute();
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * batch.count);
}
BENCHMARK_CAPTURE(route_pass, compute, false);
BENCHMARK_CAPTURE(route_pass, finish, true);

constexpr std::size_t kLookups = 1 << 16;

void lookup_image(benchmark::State& state) {
  const auto prefixes = static_cast<std::size_t>(state.range(0));
  const RouteTable& table = table_of(prefixes).routes.table();
  const std::vector<std::uint32_t> addresses = addresses_of(prefixes, kLookups);
  for (auto _ : state) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < kLookups; i += 64) {
      for (std::size_t j = i; j < i + 64; ++j)
        __builtin_prefetch(&table.table24[addresses[j] >> 8]);
      for (std::size_t j = i; j < i + 64; ++j) sum += table.look_up(addresses[j]);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kLookups);
}
BENCHMARK(lookup_image)->Arg(100)->Arg(900'000)->ArgName("prefixes");

void lookup_rte_fib(benchmark::State& state) {
  const auto prefixes = static_cast<std::size_t>(state.range(0));
  start_private_eal();
  rte_fib_conf conf{};
  conf.type = RTE_FIB_DIR24_8;
  conf.max_routes = static_cast<int>(2 * prefixes + 16);
  conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
  conf.dir24_8.num_tbl8 = 256;
  rte_fib* fib = rte_fib_create("bench", SOCKET_ID_ANY, &conf);
  if (fib == nullptr) return state.SkipWithError("rte_fib_create failed");
  for (std::size_t i = 0; i < prefixes; ++i) rte_fib_add(fib, Table::prefix(i), 24, 1 + i % 80);
  std::vector<std::uint32_t> addresses = addresses_of(prefixes, kLookups);
  std::vector<std::uint64_t> hops(kLookups);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLookups; i += 64) {
      rte_fib_lookup_bulk(fib, &addresses[i], &hops[i], 64);
    }
    benchmark::DoNotOptimize(hops.data());
  }
  state.SetItemsProcessed(state.iterations() * kLookups);
  rte_fib_free(fib);
}
BENCHMARK(lookup_rte_fib)->Arg(100)->Arg(900'000)->ArgName("prefixes");

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
