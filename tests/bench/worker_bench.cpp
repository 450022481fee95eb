// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What one core of a worker costs a packet, from the take of a batch to its push, without other
// cores: `worker_bench`. Time is that of ClassifierActor::do_work() alone; between two of its turns
// the same thread plays ingress and egress. Packets a second: items_per_second. Its instructions:
//
//     valgrind --tool=callgrind --toggle-collect='millrace::ClassifierActor::do_work()'
//         worker_bench --benchmark_filter=worker/route/flows:1024/fill:64
//
// divided by the counter `packets` that the case prints. Cases of 8 and of 64 packets a batch give
// two equations: what a packet costs, and what a batch does besides its packets.
// Cases of connections have `flows` of UDP; each has had a packet before it is measured.

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planner.hpp"
#include "services/classifier/classifier_actor.hpp"
#include "services/functions/builder/build_image.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "services/functions/table.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/turn_clock.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/bench/fib.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kSlots = 16;
constexpr std::uint32_t kRound = 4;             // batches that wait when a turn begins
constexpr std::int64_t kTurns = 2000;           // of each case
constexpr std::uint64_t kTimedEach = 8;         // batches of an ingress that has a million a second
constexpr std::int64_t kShort = 8, kFull = 64;  // packets of a batch
constexpr std::size_t kPrefixes = 256;          // of the table
constexpr std::uint32_t kSources = 0x0a000000;  // 10.0.0.0: of flow 0
constexpr std::size_t kUdpAt = 34, kUdpLengthAt = kUdpAt + 4;
constexpr std::int64_t kFlowsFew = 1024, kFlowsMany = 1'000'000;

/// A folder for tables, removed with its owner.
class Folder {
 public:
  Folder() {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/millrace-worker-bench-XXXXXX";
};

/// Functions of a topology, the only worker of which runs all of them.
struct Setting {
  std::string functions;  ///< YAML; files have names without a folder
  std::string run;
};

const Setting kRoute{"  r: { type: route, table: r.routes, answers: false, on: w }\n", "r"};
const Setting kRouter{"  r: { type: route, table: r.routes, on: w }\n", "r"};
const Setting kAcl{"  a: { type: acl, rules: a.rules, on: w }\n", "a"};
const Setting kAclRoute{
    "  a: { type: acl, rules: a.rules, on: w }\n"
    "  r: { type: route, table: r.routes, answers: false, on: w }\n",
    "a, r"};
const Setting kMatch{"  m: { type: match, rules: m.rules, on: w }\n", "m"};
const std::string kFlows = "  f: { type: flow, max: 1100000, on: w }\n";
const std::string kFirewall = "  w: { type: firewall, rules: w.rules, on: w }\n";
const std::string kNat =
    "  n: { type: nat, inside: a, pool: 198.51.100.0/24, block: 8, max: 1100000, on: w }\n";
const Setting kFlow{kFlows, "f"};
const Setting kFlowRoute{kFlows + kRoute.functions, "f, r"};
const Setting kFirewallRoute{kFlows + kFirewall + kRoute.functions, "f, w, r"};
const Setting kNatRoute{kFlows + kFirewall + kNat + kRoute.functions, "f, w, n, r"};

std::string topology(const Setting& setting) {
  return std::string(
             "millrace: 1\nname: bench\n"
             "ports: { a: { device: 'null', mac: '02:00:00:00:00:0a' }, "
             "b: { device: 'null', mac: '02:00:00:00:00:0b' } }\n"
             "workers: { w: { kind: classifier, dispatch: flow } }\nfunctions:\n") +
         setting.functions +
         "paths: { p: { from: [a], to: b, lanes: 1, slots: " + std::to_string(kSlots) + ", run: [" +
         setting.run + "] } }\n";
}

void write_tables(const Folder& folder) {
  folder.write("r.routes", routes_text(made_prefixes(kPrefixes), "b"));
  std::string rules;
  for (int i = 0; i < 100; ++i) {
    rules += "drop udp 10." + std::to_string(100 + i) + ".0.0/16 -> any port " +
             std::to_string(1000 + i) + "\n";
  }
  folder.write("a.rules", rules + "pass udp any -> any\n");
  folder.write("w.rules",
               "pass ip any -> any state established,related\n"
               "pass udp any -> any in a state new\n");
  folder.write("m.rules", "drop \"attack\"\nalert \"secret\"\n");
}

/// Its tables are built.
Plan make_plan_of(const Setting& setting, const Folder& folder) {
  write_tables(folder);
  const auto known = known_functions();
  Plan plan =
      make_plan(parse_topology(topology(setting), folder.path() + "/t.yaml", known), known, Host{});
  for (PlanFunction& function : plan.functions) {
    if (!function_type(function.type).traits.has_image) continue;
    function.image = folder.path() + "/" + function.name + ".image";
    function.counter_count = build_image({.function = function, .ports = plan.ports}).counter_count;
  }
  return plan;
}

std::uint16_t actor_of(const Plan& plan, std::string_view name) {
  for (std::uint16_t i = 0; i < plan.actors.size(); ++i) {
    if (plan.actors[i].name == name) return i;
  }
  std::abort();
}

/// Of huge pages, as a topology's; small ones where too few are free.
Mapping make_segment(const Plan& plan) {
  const std::uint64_t bytes = (segment_layout(plan).bytes + kHugePage - 1) / kHugePage * kHugePage;
  try {
    return Mapping::create_segment(make_segment_file(plan.name).get(), bytes);
  } catch (const Error&) {
    return Mapping::create_anonymous(bytes);
  }
}

/// A worker, and what plays the actors before and behind it.
class Rig {
 public:
  /// `fill`: packets of each batch.
  Rig(const Setting& setting, std::uint32_t flows, std::uint32_t fill)
      : fill_(fill),
        flows_(flows),
        plan_(make_plan_of(setting, folder_)),
        segment_memory_(make_segment(plan_)),
        status_memory_(Mapping::create_anonymous(status_layout(plan_).bytes)),
        segment_(SegmentView::create(segment_memory_.base(), plan_)),
        status_(StatusView::create(status_memory_.base(), plan_, 1'000'000'000)),
        functions_(context("w.0")),
        worker_(context("w.0"), functions_),
        in_(link("ingress.a.0", "w.0")),
        out_(link("w.0", "egress.0")),
        addresses_(addresses_in(made_prefixes(kPrefixes), kSlots * plan_.batch_capacity, 1)) {
    for (const PlanActor& actor : plan_.actors) {
      ActorEntry& entry = status_.actor(actor_of(plan_, actor.name));
      entry.incarnation = 1;
      if (actor.at_start) entry.state = static_cast<std::uint32_t>(ActorState::kAlive);
    }
    status_.lane_map(plan_.actors[actor_of(plan_, "w.0")].group).worker[0] = 0;
    worker_.read_roster();
  }

  /// Batches of new packets, on their way to the worker.
  void fill() {
    for (std::uint32_t i = 0; i < kRound; ++i) {
      const std::uint32_t slot = next_++ % kSlots;
      SlotHeader& header = segment_.slot(slot);
      header.owner = Owner{actor_of(plan_, "ingress.a.0"), 1}.word();
      header.state = SlotState{SlotKind::kHeld, 0}.word();
      ++header.generation;
      header.count = static_cast<std::uint16_t>(fill_);
      header.sequence = ++sequence_;
      header.time_stage_tsc = sequence_ % kTimedEach == 0 ? turn_clock::last() : 0;
      write_packets(segment_.batch(slot), slot);
      const std::uint64_t word =
          Descriptor{static_cast<std::uint16_t>(slot), 0, header.generation}.word();
      if (!in_.push(std::array{word})) std::abort();
    }
  }
  std::uint64_t work() {
    turn_clock::read();
    const std::uint64_t began = tsc_now();
    while (worker_.do_work() != 0) {
    }
    return tsc_now() - began;
  }
  /// False: a packet does not go on.
  bool take_away() {
    std::array<std::uint64_t, kRound> words;
    bool good = out_.take(words, [](std::uint64_t) {}) == kRound;
    for (const std::uint64_t word : words) {
      const Batch batch = segment_.batch(Descriptor::from_word(word).slot);
      good = good && fates_in(batch).gone == 0;
    }
    return good;
  }
  std::uint32_t packets() const { return kRound * fill_; }

 private:
  ActorContext context(std::string_view name) const {
    return {&plan_, segment_, status_, {actor_of(plan_, name), 1}};
  }
  SpscRing<std::uint64_t> link(std::string_view from, std::string_view to) const {
    const std::uint32_t producer = actor_of(plan_, from), consumer = actor_of(plan_, to);
    for (std::uint32_t i = 0; i < plan_.links.size(); ++i) {
      if (plan_.links[i].producer == producer && plan_.links[i].consumer == consumer) {
        return segment_.link(i);
      }
    }
    std::abort();
  }
  void write_packets(const Batch& batch, std::uint32_t slot) {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const std::uint32_t number = slot * batch.count + i;
      batch.buffer[i] = number;
      batch.offset[i] = kBufferHeadroom;
      const std::uint32_t flow = next_flow();
      auto frame = make_frame(
          {.source = kSources + flow, .destination = addresses_[flow % addresses_.size()]});
      put16(frame, kUdpLengthAt, static_cast<std::uint32_t>(frame.size()) - kUdpAt);
      batch.length[i] = static_cast<std::uint16_t>(frame.size());
      std::memcpy(batch.data(i), frame.data(), frame.size());
      batch.verdict[i] = 0;
      batch.output[i] = kOutputDefault;
    }
  }

  /// Each once, then random ones.
  std::uint32_t next_flow() {
    if (begun_ < flows_) return begun_++;
    return static_cast<std::uint32_t>(random_() % flows_);
  }

  std::uint32_t fill_;
  std::uint32_t flows_, begun_ = 0;
  std::mt19937 random_{1};
  Folder folder_;
  Plan plan_;
  Mapping segment_memory_, status_memory_;
  SegmentView segment_;
  StatusView status_;
  FunctionStages functions_;
  ClassifierActor worker_;
  SpscRing<std::uint64_t> in_, out_;
  std::vector<std::uint32_t> addresses_;
  std::uint32_t next_ = 0;
  std::uint64_t sequence_ = 0;
};

void worker(benchmark::State& state, const Setting& setting) {
  const TscScale scale(measure_tsc_hz());
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  Rig rig(setting, flows, static_cast<std::uint32_t>(state.range(1)));
  for (std::uint32_t begun = 0; begun < flows; begun += rig.packets()) {
    rig.fill();
    rig.work();
    rig.take_away();
  }
  for (auto _ : state) {
    rig.fill();
    state.SetIterationTime(static_cast<double>(scale.to_ns(rig.work())) * 1e-9);
    if (!rig.take_away()) {
      state.SkipWithError("a packet does not go on");
      break;
    }
  }
  const std::int64_t packets = state.iterations() * rig.packets();
  state.SetItemsProcessed(packets);
  state.counters["packets"] = static_cast<double>(packets);
}

void turns(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(kTurns)->ArgNames({"flows", "fill"});
}
void few(benchmark::internal::Benchmark* bench) {
  bench->Apply(turns)->Args({kFlowsFew, kShort})->Args({kFlowsFew, kFull});
}
void few_and_many(benchmark::internal::Benchmark* bench) {
  bench->Apply(few)->Args({kFlowsMany, kFull});
}
BENCHMARK_CAPTURE(worker, route, kRoute)->Apply(few);
BENCHMARK_CAPTURE(worker, router, kRouter)->Apply(few);
BENCHMARK_CAPTURE(worker, acl, kAcl)->Apply(few);
BENCHMARK_CAPTURE(worker, acl_route, kAclRoute)->Apply(few);
BENCHMARK_CAPTURE(worker, match, kMatch)->Apply(few);
BENCHMARK_CAPTURE(worker, flow, kFlow)->Apply(few_and_many);
BENCHMARK_CAPTURE(worker, flow_route, kFlowRoute)->Apply(few_and_many);
BENCHMARK_CAPTURE(worker, firewall_route, kFirewallRoute)->Apply(few_and_many);
BENCHMARK_CAPTURE(worker, nat_route, kNatRoute)->Apply(few_and_many);

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
