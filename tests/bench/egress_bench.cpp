// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What one core of an egress costs, without the actors in front of it: `egress_bench`. Packets a
// second are items_per_second; only the egress's own rounds are timed. Its instructions:
//
//     valgrind --tool=callgrind --toggle-collect='millrace::EgressActor::do_work()'
//         egress_bench --benchmark_filter=to_null/drop_each:0/fill:64
//
// divided by the counter `packets` that the case prints. Cases of 8 and of 64 packets a batch give
// two equations: what a packet costs, and what a batch does besides its packets.

#include <benchmark/benchmark.h>
#include <rte_eal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "io-worker/driver/dpdk_process.hpp"
#include "io-worker/egress/egress_actor.hpp"
#include "services/hub/dpdk_ports.hpp"
#include "shared/base/clock.hpp"
#include "tests/unit/support/fake_work.hpp"
#include "tests/unit/support/small_world.hpp"

namespace {

using millrace::Batch;
using millrace::SpscRing;
using millrace::TxQueues;
using millrace::test::SmallWorld;

constexpr std::uint32_t kSlots = 8;    // a turn; as many as an egress takes in a round
constexpr std::int64_t kTurns = 2000;  // of each case
constexpr std::uint32_t kCapacity = 64;
constexpr millrace::SlotState kDone{millrace::SlotKind::kHeld, millrace::kEgressStage};

/// An ingress that has filled its slots once and hands them out again and again.
class Rig {
 public:
  /// `fill`: packets of each batch.
  Rig(SmallWorld& world, TxQueues& ports, std::uint32_t fill)
      : world_(world), fill_(fill), egress_(world.context("egress.0"), ports, work_) {
    world_.start_all();
    egress_.read_roster();
    for (std::uint32_t i = 0; i < 2 * kSlots; ++i) {
      slots_.push_back(world_.make({.sequence = i + 1, .count = fill_, .state = kDone}));
      buffers_.push_back(world_.buffers_of(slots_.back()));
    }
    sequence_ = 1;
  }

  /// `every`: of so many packets one is dropped; 0: none is.
  void fill(std::uint32_t every) {
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      const std::size_t which = at_++ % slots_.size();
      const std::uint32_t slot = slots_[which];
      millrace::SlotHeader& header = world_.segment.slot(slot);
      header.owner = world_.owner_word("ingress.a.0").word();
      header.state = kDone.word();
      ++header.generation;
      header.sequence = sequence_;
      header.received_total = header.position = sequence_ * fill_;
      ++sequence_;
      const Batch batch = world_.segment.batch(slot);
      for (std::uint32_t packet = 0; packet < fill_; ++packet) {
        const std::uint32_t buffer = buffers_[which][packet];
        batch.buffer[packet] = buffer;
        world_.segment.mark(buffer) = millrace::Mark{millrace::MarkKind::kSlot, slot}.word();
        batch.verdict[packet] = 0;
        batch.output[packet] = millrace::kOutputDefault;
        if (every != 0 && packet % every == 0) batch.drop(packet, millrace::Reason::kNoOutput);
      }
      if (!link_.push(std::array{world_.word_of(slot, millrace::kEgressStage)})) std::abort();
    }
  }
  /// Rounds until all have left. Returns its ticks.
  std::uint64_t work() {
    const std::uint64_t began = millrace::tsc_now();
    while (egress_.do_work() != 0) {
    }
    return millrace::tsc_now() - began;
  }
  /// As the ingress does.
  void take_home() {
    std::array<std::uint32_t, 2 * kSlots * kCapacity> buffers;
    std::array<std::uint64_t, 2 * kSlots> slots;
    home_.take(buffers, [](std::uint32_t) {});
    free_.take(slots, [](std::uint64_t) {});
  }
  SmallWorld& world() { return world_; }

 private:
  SmallWorld& world_;
  std::uint32_t fill_;
  millrace::test::FakeWork work_;
  millrace::EgressActor egress_;
  SpscRing<std::uint64_t> link_ = world_.link("ingress.a.0", "egress.0");
  SpscRing<std::uint32_t> home_ = world_.segment.buffer_return(0, millrace::Returner::kEgress);
  SpscRing<std::uint64_t> free_ = world_.segment.slot_return(0, millrace::Returner::kEgress);
  std::vector<std::uint32_t> slots_;
  std::vector<std::vector<std::uint32_t>> buffers_;
  std::size_t at_ = 0;
  std::uint64_t sequence_ = 0;
};

void run(benchmark::State& state, Rig& rig) {
  const millrace::TscScale scale(millrace::measure_tsc_hz());
  for (auto _ : state) {
    rig.fill(static_cast<std::uint32_t>(state.range(0)));
    state.SetIterationTime(static_cast<double>(scale.to_ns(rig.work())) * 1e-9);
    rig.take_home();
  }
  const std::int64_t packets = state.iterations() * kSlots * state.range(1);
  state.SetItemsProcessed(packets);
  state.counters["packets"] = static_cast<double>(packets);
}

void with_drops_and_fills(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"drop_each", "fill"})->ArgsProduct({{0, 8}, {8, kCapacity}});
  bench->UseManualTime()->Iterations(kTurns);
}

void to_null(benchmark::State& state) {
  SmallWorld world(
      "millrace: 1\nname: bench\nports: { a: { device: 'null' }, b: { device: 'null' } }\n"
      "paths: { p: { from: [a], to: b, run: [], slots: 16 } }\n");
  TxQueues ports;
  for (std::size_t port = 0; port < 2; ++port) {
    ports[port] = millrace::open_tx_queue(world.plan.ports[port], 0, false);
  }
  Rig rig(world, ports, static_cast<std::uint32_t>(state.range(1)));
  run(state, rig);
}
BENCHMARK(to_null)->Apply(with_drops_and_fills);

/// Neither root nor huge pages; once a process.
void start_eal() {
  static std::array<std::string, 13> words = {
      "bench",       "--no-shconf", "--no-huge",      "-m",
      "64",          "--no-pci",    "--no-telemetry", "--iova-mode=va",
      "--log-level", "critical",    "--file-prefix",  "millrace-bench-" + std::to_string(getpid()),
      "--lcores=0"};
  static const int started = [] {
    std::array<char*, words.size() + 1> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    return rte_eal_init(static_cast<int>(words.size()), arguments.data());
  }();
  if (started < 0) std::abort();
}

/// DPDK's null driver frees each header when it gets it.
void to_dpdk(benchmark::State& state) {
  start_eal();
  static int number = 0;  // each case has a device of its own
  SmallWorld world("millrace: 1\nname: bench\nports: { a: { device: dpdk, devargs: 'net_null" +
                   std::to_string(number++) +
                   ",size=60' } }\n"
                   "paths: { p: { from: [a], to: a, run: [], slots: 16 } }\n");
  millrace::DpdkPorts hub(world.context("hub"));
  millrace::DpdkProcess process(world.context("egress.0"), "");
  TxQueues ports;
  ports[0] = process.open_tx(0, 0);
  Rig rig(world, ports, static_cast<std::uint32_t>(state.range(1)));
  run(state, rig);
}
BENCHMARK(to_dpdk)->Apply(with_drops_and_fills);

}  // namespace

BENCHMARK_MAIN();
