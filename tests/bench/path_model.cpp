// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// millrace-path-model: what a path can cost when nothing is done but the work itself. Processes on
// cores of their own, batches in lanes over links of one producer and one consumer, slots and
// buffers that come back, an owner mark for each buffer, a window for each lane; a classifier looks
// up one table and counts TTLs down. Nothing survives a death here, nothing is checked, counted by
// reason or found again, and packets lie in their buffers for ever. `run.py` prints a case's rate
// beside that of this model on the same cores, with as many lanes, slots and buffers.

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/bench/instruction_counter.hpp"
#include "tests/bench/model_actors.hpp"

namespace millrace::model {
namespace {

using Json = nlohmann::json;

struct Options {
  std::uint32_t streams = 1, workers = 1, lanes = 1, slots = 16, buffers = 1024;
  std::uint32_t prefixes = 0;
  bool flow = false, own_workers = false, restore = false;
  double rate_mpps = 0, seconds = 0.5;
  std::vector<int> cores;
};

struct Look {
  std::chrono::steady_clock::time_point at;
  std::vector<std::uint64_t> packets, batches, busy, missed;
  std::vector<std::optional<std::uint64_t>> instructions;
  std::vector<std::vector<std::uint64_t>> latency;
};

double ns_per_tick() {
  return static_cast<double>(TscScale(measure_tsc_hz()).to_ns(1'000'000)) / 1e6;
}

/// Addresses and table as in the capture and the route table of cases.py: 256 networks of 16 bits,
/// or as many of 24 bits.
std::uint32_t address_of(std::uint32_t prefixes, std::mt19937& random) {
  if (prefixes == 0) return 0x0a000000u | (random() & 0xffffffu);
  const std::uint32_t network = random() % prefixes * 2'654'435u & 0x3fffffu;
  return 0x80000000u | network << 8 | (random() & 0xffu);
}

void fill_buffers(const World& world, std::uint32_t prefixes) {
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < world.buffers.size() / kBufferBytes; ++i) {
    std::byte* frame = world.frame(i);
    const std::uint32_t target = __builtin_bswap32(address_of(prefixes, random));
    const auto source = static_cast<std::uint32_t>(random());
    const auto ports = static_cast<std::uint32_t>(random());
    frame[kTtlAt] = static_cast<std::byte>(kTtl);
    frame[kProtocolAt] = std::byte{17};
    std::memcpy(frame + kSourceAt, &source, sizeof source);
    std::memcpy(frame + kTargetAt, &target, sizeof target);
    std::memcpy(frame + kPortsAt, &ports, sizeof ports);
  }
}

constexpr std::size_t kTableEntries = std::size_t{1} << 24;

std::size_t bytes_needed(const Options& options) {
  const std::size_t links = std::size_t{2} * options.streams * options.workers;
  const std::size_t slots = std::size_t{options.streams} * options.slots;
  const std::size_t buffers = std::size_t{options.streams} * options.buffers;
  return kTableEntries * sizeof(std::uint32_t) + slots * sizeof(Slot) +
         buffers * (kBufferBytes + 4 * sizeof(std::uint32_t)) +
         links * (sizeof(Ring) + 4 * kLine + 2 * std::bit_ceil(options.slots + 1) * 4) +
         options.streams * (sizeof(Latency) + sizeof(Stream) + options.lanes * kLine + 4096) +
         (std::size_t{1} << 20);
}

/// All that the processes share, laid out before they start.
World laid_out(const Options& options, Arena& arena) {
  World world;
  world.lanes = options.lanes;
  world.flow = options.flow;
  world.restore = options.restore;
  world.workers = options.workers;
  world.ns_per_tick = ns_per_tick();
  world.packets_per_tick = options.rate_mpps * world.ns_per_tick / 1e3;
  world.table = arena.make<std::uint32_t>(kTableEntries);
  for (std::size_t i = 0; i < kTableEntries; ++i) {
    world.table[i] = static_cast<std::uint32_t>(i * 2'654'435'761u >> 24);
  }
  world.slots = arena.make<Slot>(std::size_t{options.streams} * options.slots);
  world.buffers =
      arena.make<std::byte>(std::size_t{options.streams} * options.buffers * kBufferBytes);
  world.streams = arena.make<Stream>(options.streams);
  for (std::uint32_t i = 0; i < options.streams; ++i) {
    Stream& stream = world.streams[i];
    stream.slot_first = i * options.slots;
    stream.slot_count = options.slots;
    stream.buffer_first = i * options.buffers;
    stream.buffer_count = options.buffers;
    stream.free_slots.open(arena, options.slots);
    stream.free_buffers.open(arena, options.buffers);
    stream.done = arena.make<std::atomic<std::uint64_t>>(options.lanes);
    stream.mark = arena.make<std::uint32_t>(options.buffers);
  }
  const std::size_t links = std::size_t{options.streams} * options.workers;
  world.to_worker = arena.make<Ring>(links);
  world.to_egress = arena.make<Ring>(links);
  for (Ring& ring : world.to_worker) ring.open(arena, options.slots);
  for (Ring& ring : world.to_egress) ring.open(arena, options.slots);
  world.latency = arena.make<Latency>(options.streams);
  world.stop = arena.make<std::atomic<bool>>(1).data();
  world.ready = arena.make<std::atomic<std::uint32_t>>(1).data();
  fill_buffers(world, options.prefixes);
  return world;
}

template <typename Actor>
void work(Actor actor, const World& world, Tally& tally, bool shares_cores) {
  world.ready->fetch_add(1);
  while (world.ready->load() < world.actors()) sched_yield();
  std::uint64_t began = tsc_now();
  while (!world.stop->load(std::memory_order_relaxed)) {
    const bool idle = actor.turn() == 0;
    const std::uint64_t now = tsc_now();
    if (!idle) {
      add(tally.busy_ticks, now - began);
    } else if (shares_cores) {
      sched_yield();
    } else {
      _mm_pause();
    }
    began = now;
  }
}

class Model {
 public:
  explicit Model(const Options& options)
      : options_(options),
        arena_(bytes_needed(options)),
        world_(laid_out(options, arena_)),
        tallies_(arena_.make<Tally>(world_.actors())) {
    const std::uint32_t mine = options.own_workers ? options.workers / options.streams : 0;
    const auto first = [&](std::uint32_t i) { return options.own_workers ? i * mine : 0; };
    const std::uint32_t each = options.own_workers ? mine : options.workers;
    for (std::uint32_t i = 0; i < options.streams; ++i) {
      start("ingress", [&](Tally& tally) { return Ingress(world_, i, first(i), each, tally); });
    }
    for (std::uint32_t i = 0; i < options.workers; ++i) {
      const std::uint32_t from = options.own_workers ? i / mine : 0;
      const std::uint32_t count = options.own_workers ? 1 : options.streams;
      start("worker", [&](Tally& tally) { return Worker(world_, i, from, count, tally); });
    }
    for (std::uint32_t i = 0; i < options.streams; ++i) {
      start("egress", [&](Tally& tally) { return Egress(world_, i, first(i), each, tally); });
    }
    while (world_.ready->load() < world_.actors()) std::this_thread::yield();
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() {
    world_.stop->store(true);
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  }

  Json measure() {
    const std::chrono::duration<double> warm(0.1), time(options_.seconds);
    std::this_thread::sleep_for(warm);
    const Look a = look();
    std::this_thread::sleep_for(time);
    return figures(a, look());
  }

 private:
  template <typename Make>
  void start(const char* name, Make make) {
    const std::size_t number = children_.size();
    const pid_t child = ::fork();
    if (child < 0) throw Error("fork failed");
    if (child == 0) {
      const bool bound = number < options_.cores.size() && options_.cores[number] >= 0;
      if (bound) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(options_.cores[number], &cores);
        sched_setaffinity(0, sizeof cores, &cores);
      }
      work(make(tallies_[number]), world_, tallies_[number], !bound);
      ::_exit(0);
    }
    children_.push_back(child);
    names_.emplace_back(name);
    counters_.emplace_back(child);
  }

  Look look() const {
    Look now;
    now.at = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      now.packets.push_back(tallies_[i].packets);
      now.batches.push_back(tallies_[i].batches);
      now.busy.push_back(tallies_[i].busy_ticks);
      now.missed.push_back(tallies_[i].missed);
      now.instructions.push_back(counters_[i].read());
    }
    for (const Latency& latency : world_.latency) {
      now.latency.emplace_back(std::begin(latency.packets), std::end(latency.packets));
    }
    return now;
  }

  Json actor_figures(std::size_t i, const Look& a, const Look& b, double ns) const {
    const auto packets = static_cast<double>(b.packets[i] - a.packets[i]);
    const double busy = static_cast<double>(b.busy[i] - a.busy[i]) * world_.ns_per_tick;
    Json actor{{"actor", names_[i]},
               {"busy_share", busy / ns},
               {"busy_ns_per_packet", packets > 0 ? busy / packets : 0.0},
               {"instructions_per_packet", nullptr}};
    if (packets > 0 && a.instructions[i] && b.instructions[i]) {
      actor["instructions_per_packet"] =
          static_cast<double>(*b.instructions[i] - *a.instructions[i]) / packets;
    }
    return actor;
  }

  Json figures(const Look& a, const Look& b) const {
    const double ns = std::chrono::duration<double, std::nano>(b.at - a.at).count();
    double packets = 0, batches = 0, missed = 0;
    std::uint64_t disorder = 0;
    Json result;
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      result["actors"].push_back(actor_figures(i, a, b, ns));
      disorder += tallies_[i].out_of_order;
      missed += static_cast<double>(b.missed[i] - a.missed[i]);
      if (names_[i] != "egress") continue;
      packets += static_cast<double>(b.packets[i] - a.packets[i]);
      batches += static_cast<double>(b.batches[i] - a.batches[i]);
    }
    result["mpps"] = packets / ns * 1e3;
    result["missed_mpps"] = missed / ns * 1e3;
    result["fill"] = batches > 0 ? packets / batches : 0;
    result["out_of_order"] = disorder;
    result["huge_pages"] = arena_.huge();
    for (const auto& [name, share] : {std::pair{"p50_us", 0.5}, {"p99_us", 0.99}}) {
      result[name] = quantile_us(a, b, share);
    }
    return result;
  }

  /// Of the slowest stream.
  static double quantile_us(const Look& a, const Look& b, double share) {
    double worst = 0;
    for (std::size_t s = 0; s < a.latency.size(); ++s) {
      std::vector<std::uint64_t> counts(kLatencyBucketCount);
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = b.latency[s][i] - a.latency[s][i];
      const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
      auto left = static_cast<std::uint64_t>(static_cast<double>(total) * share);
      std::uint32_t i = 0;
      for (; i + 1 < counts.size() && counts[i] <= left; ++i) left -= counts[i];
      if (total != 0) worst = std::max(worst, static_cast<double>(latency_of_bucket(i)) / 1e3);
    }
    return worst;
  }

  Options options_;
  Arena arena_;
  World world_;
  std::span<Tally> tallies_;
  std::vector<pid_t> children_;
  std::vector<std::string> names_;
  std::vector<InstructionCounter> counters_;
};

}  // namespace
}  // namespace millrace::model

int main(int argc, char** argv) {
  millrace::model::Options options;
  CLI::App app("A plain model of a path: what its work costs with nothing else");
  app.add_option("--streams", options.streams, "each with an egress")->check(CLI::Range(1, 64));
  app.add_option("--workers", options.workers)->check(CLI::Range(1, 128));
  app.add_flag("--own-workers", options.own_workers, "each stream has its share of them alone");
  app.add_option("--lanes", options.lanes)->check(CLI::Range(1, 128));
  app.add_flag("--flow", options.flow, "lanes by a hash of addresses and ports");
  app.add_option("--slots", options.slots, "of a stream")->check(CLI::Range(2, 16384));
  app.add_option("--buffers", options.buffers, "of a stream")->check(CLI::Range(64, 1 << 18));
  app.add_option("--prefixes", options.prefixes, "of 24 bits; 0: 256 of 16 bits");
  app.add_flag("--restore", options.restore, "the source writes each packet's first line");
  app.add_option("--rate-mpps", options.rate_mpps, "offered to each stream; 0: all it takes");
  app.add_option("--seconds", options.seconds);
  app.add_option("--cores", options.cores, "of ingresses, workers, egresses; -1: any")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  try {
    std::puts(millrace::model::Model(options).measure().dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace-path-model: %s\n", error.what());
    return 1;
  }
}
