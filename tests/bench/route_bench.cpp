// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// route over batches of 64-byte packets, nanoseconds a packet: all of it (select, prefetch,
// compute, finish) by table and by share of packets that are not ordinary or are IPv6; and look-ups
// alone beside rte_fib and rte_fib6 with the same prefixes and addresses in the same run. 16
// batches take turns, as slots do.

#include <benchmark/benchmark.h>
#include <rte_fib6.h>
#include <rte_memory.h>

#include <array>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "services/functions/builder/private_eal.hpp"
#include "services/functions/route/next_hops.hpp"
#include "services/functions/route/route.hpp"
#include "services/functions/route/route_compute.hpp"
#include "services/functions/route/route_finish.hpp"
#include "services/functions/route/route_text.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/bench/fib.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"
#include "tests/unit/shared/layout/neighbour_memory.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBatches = 16;
constexpr int kRunsPerFill = 200;  ///< a packet of TTL 255 survives so many

/// `count` different /24 prefixes spread over the unicast space, or one /0.
struct Table {
  explicit Table(std::size_t count)
      : prefixes(count == 1 ? std::vector<FibPrefix>{{0, 0}} : made_prefixes(count)),
        routes(routes_text(prefixes, "p0"), {}) {}

  std::vector<FibPrefix> prefixes;
  BuiltRoutes routes;
};

const Table& table_of(std::size_t count) {
  static const Table kOne(1), kSmall(100), kLarge(900'000);
  return count == 1 ? kOne : count == 100 ? kSmall : kLarge;
}

std::vector<std::uint32_t> addresses_of(std::size_t count, std::size_t wanted) {
  return addresses_in(made_prefixes(count), wanted, 1);
}

constexpr std::size_t kIpv6Prefixes = 160'000;

/// /48 networks, four next to each other in a /40, four of these in each of 10,000 /32 networks:
/// about as many nodes as the Internet's table takes.
Ipv6Address ipv6_prefix(std::size_t i) {
  const std::size_t in_32 = i / 10'000;
  return {0x24000000'00000000 | (i % 10'000 * 40'503 & 0x3ffff) << 32 |
              (in_32 / 4 * 77 & 255) << 24 | in_32 % 4 << 16,
          0};
}

const BuiltRoutes& ipv6_table() {
  static const BuiltRoutes kRoutes(
      [] {
        std::string all = "0.0.0.0/0 p0 02:00:00:00:00:01\n";
        for (std::size_t i = 0; i < kIpv6Prefixes; ++i) {
          all += ipv6_text(ipv6_prefix(i)) + "/48 p" + std::to_string(i % 4) +
                 " 02:00:00:00:00:" + std::to_string(10 + i % 80) + "\n";
        }
        return all;
      }(),
      {});
  return kRoutes;
}

std::vector<Ipv6Address> ipv6_addresses_of(std::size_t wanted) {
  std::mt19937_64 random(1);
  std::vector<Ipv6Address> addresses(wanted);
  for (Ipv6Address& address : addresses) {
    address = {ipv6_prefix(random() % kIpv6Prefixes).high | (random() & 0xffff), random()};
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

void fill_ipv6(std::deque<BatchArena>& arenas, long ipv6_percent) {
  std::mt19937 random(2);
  const auto addresses = ipv6_addresses_of(kBatches * kBatchCapacityDefault);
  const auto ipv4_addresses = addresses_of(900'000, kBatches * kBatchCapacityDefault);
  std::size_t next = 0;
  for (BatchArena& arena : arenas) {
    arena.clear();
    for (; !arena.full(); ++next) {
      if (static_cast<long>(random() % 100) < ipv6_percent) {
        arena.add(
            make_ipv6_frame({.destination = addresses[next], .hop_limit = 255, .payload = 10}));
      } else {
        arena.add(make_frame({.destination = ipv4_addresses[next], .ttl = 255}));
      }
    }
  }
}

/// All of route; `refill` makes the packets anew, whose TTLs have run down.
template <typename Refill, typename Facts>
void run_route(benchmark::State& state, const BuiltRoutes& routes, Refill refill, Facts facts) {
  const FunctionType type = route_type();
  const auto function = type.make(routes.context());
  std::vector<std::uint64_t> hits(routes.report().counter_count);
  StageRunner runner(
      {{.function = function.get(), .regions = type.traits.regions, .counters = {hits}}});
  std::deque<BatchArena> arenas(kBatches);
  std::vector<Batch> batches;
  refill(arenas);
  for (const BatchArena& arena : arenas) batches.push_back(arena.batch());
  int runs = 0;
  for (auto _ : state) {
    for (const Batch& batch : batches) runner.run(batch, {}, facts());
    if (++runs % kRunsPerFill == 0) {
      state.PauseTiming();
      refill(arenas);
      state.ResumeTiming();
    }
  }
  for (const Batch& batch : batches) {
    if (!batch.goes_on(0)) state.SkipWithError("a packet was dropped");
  }
  state.SetItemsProcessed(state.iterations() * kBatches * kBatchCapacityDefault);
}
BatchFacts no_facts() { return {}; }

void route(benchmark::State& state) {
  const auto prefixes = static_cast<std::size_t>(state.range(0));
  run_route(
      state, table_of(prefixes).routes,
      [&](std::deque<BatchArena>& arenas) { fill(arenas, prefixes, state.range(1)); }, no_facts);
}
BENCHMARK(route)->ArgsProduct({{1, 100, 900'000}, {0, 10}})->ArgNames({"prefixes", "odd_percent"});

constexpr std::uint32_t kFirstGateway = 0xac100002;  // 172.16.0.2

/// `count` /24 prefixes by way of `gateways` neighbours in turn; 0: their MAC addresses are given.
BuiltRoutes router_table(std::size_t count, std::size_t gateways) {
  const std::vector<FibPrefix> prefixes = made_prefixes(count);
  std::string text;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    text += ipv4_text(prefixes[i].address) + "/" + std::to_string(prefixes[i].length) + " out ";
    if (gateways == 0) {
      text += "02:00:00:00:00:" + std::to_string(10 + i % 80) + "\n";
    } else {
      const auto number = static_cast<std::uint32_t>(i % gateways);
      text += "via " + ipv4_text(kFirstGateway + number) + "\n";
    }
  }
  return BuiltRoutes(text,
                     {{.name = "in", .device = "null", .mac = "02:00:00:00:00:0a"},
                      {.name = "out",
                       .device = "null",
                       .mac = "02:00:00:00:00:0b",
                       .addresses = {"172.16.0.1/16"}}},
                     "true");
}

/// A router that answers: next hops are neighbours that have been found.
void route_answers(benchmark::State& state) {
  const auto prefixes = static_cast<std::size_t>(state.range(0));
  const auto gateways = static_cast<std::size_t>(state.range(1));
  const BuiltRoutes routes = router_table(prefixes, gateways);
  NeighbourMemory memory(1024);
  const NeighbourTableView table = memory.table();
  for (std::uint32_t i = 0; i < gateways; ++i) {
    table.learn(neighbour_of(1, kFirstGateway + i), {2, 0, 0, 0, 1, static_cast<std::uint8_t>(i)},
                1, {.only_update = false, .overrides = true, .confirms = true});
  }
  BatchFacts facts{.port_in = 0, .now_ns = 1'000'000'000, .neighbours = &table};
  run_route(
      state, routes, [&](std::deque<BatchArena>& arenas) { fill(arenas, prefixes, 0); },
      [&]() -> const BatchFacts& {
        facts.now_ns += 1000;  // a turn later
        return facts;
      });
}
BENCHMARK(route_answers)
    ->ArgsProduct({{100, 900'000}, {0, 1, 100}})
    ->ArgNames({"prefixes", "gateways"});

/// 160,000 prefixes of IPv6 and a default route of IPv4.
void route_ipv6(benchmark::State& state) {
  run_route(
      state, ipv6_table(),
      [&](std::deque<BatchArena>& arenas) { fill_ipv6(arenas, state.range(0)); }, no_facts);
}
BENCHMARK(route_ipv6)->Arg(0)->Arg(10)->Arg(50)->Arg(100)->ArgName("ipv6_percent");

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
      // The checksum goes wrong; nothing looks at it.
      route_finish(rewrites, {batch, {all}, batch.results(0), {hits}, {}, {}});
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
  const Fib fib(made_prefixes(prefixes));
  std::vector<std::uint32_t> addresses = addresses_of(prefixes, kLookups);
  std::vector<std::uint64_t> hops(kLookups);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLookups; i += 64) {
      fib.look_up(std::span(addresses).subspan(i, 64), std::span(hops).subspan(i, 64));
    }
    benchmark::DoNotOptimize(hops.data());
  }
  state.SetItemsProcessed(state.iterations() * kLookups);
}
BENCHMARK(lookup_rte_fib)->Arg(100)->Arg(900'000)->ArgName("prefixes");

void lookup_ipv6_image(benchmark::State& state) {
  const Ipv6Routes& routes = ipv6_table().table().ipv6;
  const std::vector<Ipv6Address> addresses = ipv6_addresses_of(kLookups);
  for (auto _ : state) {
    std::uint32_t sum = 0;
    for (const Ipv6Address& address : addresses) sum += routes.look_up(address);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kLookups);
}
BENCHMARK(lookup_ipv6_image);

void lookup_rte_fib6(benchmark::State& state) {
  using Bytes = std::array<std::uint8_t, 16>;
  const auto bytes_of = [](Ipv6Address address) {
    Bytes bytes;
    for (std::uint32_t i = 0; i < 16; ++i) bytes[i] = static_cast<std::uint8_t>(address.byte(i));
    return bytes;
  };
  start_private_eal();
  rte_fib6_conf conf{};
  conf.type = RTE_FIB6_TRIE;
  conf.max_routes = 2 * kIpv6Prefixes;
  conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
  conf.trie.num_tbl8 = 1 << 19;
  rte_fib6* fib = rte_fib6_create("bench6", SOCKET_ID_ANY, &conf);
  if (fib == nullptr) return state.SkipWithError("rte_fib6_create failed");
  for (std::size_t i = 0; i < kIpv6Prefixes; ++i) {
    if (rte_fib6_add(fib, bytes_of(ipv6_prefix(i)).data(), 48, 1 + i % 80) != 0) {
      return state.SkipWithError("rte_fib6_add failed");
    }
  }
  std::vector<Bytes> addresses;
  for (const Ipv6Address& address : ipv6_addresses_of(kLookups)) {
    addresses.push_back(bytes_of(address));
  }
  std::vector<std::uint64_t> hops(kLookups);
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLookups; i += 64) {
      rte_fib6_lookup_bulk(fib, reinterpret_cast<std::uint8_t(*)[16]>(&addresses[i]), &hops[i], 64);
    }
    benchmark::DoNotOptimize(hops.data());
  }
  state.SetItemsProcessed(state.iterations() * kLookups);
  rte_fib6_free(fib);
}
BENCHMARK(lookup_rte_fib6);

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
