// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// millrace-gpu-figures: what a GPU does with batches that lie in the segment, from the submission
// of a descriptor to its completion, beside all CPU cores of the same host in the same run.

#include <sched.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "gpu-worker/cuda/gpu.hpp"
#include "gpu-worker/resident/resident_device.hpp"
#include "services/functions/route/route_check.hpp"
#include "tests/bench/acl_rate.hpp"
#include "tests/bench/copy_rate.hpp"
#include "tests/bench/fib.hpp"
#include "tests/bench/gpu_cases.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
using gpu_cases::Case;
using gpu_cases::Frames;
using gpu_cases::kSlots;
using gpu_cases::Stage;

/// Cores that this process may use.
unsigned allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return static_cast<unsigned>(CPU_COUNT(&cores));
}

struct Options {
  std::string rules, routes, capture, acl, trace, json;
  std::vector<std::uint32_t> sizes = {32, 64, 256};
  double seconds = 1;
  unsigned samples = 5;
  unsigned threads = allowed_cores();
  bool copy = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of several samples.
struct Spread {
  double median = 0, low = 0, high = 0;
};

template <typename Sample>
Spread spread_of(unsigned samples, Sample sample) {
  std::vector<double> all(samples);
  std::generate(all.begin(), all.end(), sample);
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all.front(), all.back()};
}

/// Batches one at a time: the time of each, in microseconds, sorted.
std::vector<double> latencies(Stage& stage, Device& gpu) {
  std::vector<double> all;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const Clock::time_point start = Clock::now();
    gpu.submit({.descriptor = stage.world().descriptor(i % kSlots)});
    DeviceBatch done;
    while (gpu.poll({&done, 1}) == 0) {
    }
    if (i >= 500) all.push_back(seconds_since(start) * 1e6);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Packets a second.
double rate_of_gpu(Stage& stage, Device& gpu, std::uint32_t packets, std::uint32_t under_way,
                   double seconds) {
  std::vector<DeviceBatch> done(64);
  std::uint64_t batches = 0;
  std::uint32_t next = 0;
  const Clock::time_point start = Clock::now();
  while (seconds_since(start) < seconds) {
    for (int i = 0; i < 64; ++i) {
      while (gpu.in_flight() < under_way &&
             gpu.submit({.descriptor = stage.world().descriptor(next)})) {
        next = (next + 1) % kSlots;
      }
      batches += gpu.poll(done);
    }
  }
  const double took = seconds_since(start);
  while (gpu.in_flight() != 0) gpu.poll(done);
  return static_cast<double>(batches) * packets / took;
}

/// The CPU's version of the function on `threads` threads, each with tables of its own.
double rate_of_cpu(Stage& stage, unsigned threads, std::uint32_t packets, double seconds) {
  std::atomic<std::uint64_t> batches = 0;
  std::atomic<unsigned> ready = 0;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      FunctionStages functions(stage.world().context("cpu.0"));
      const SegmentView& segment = stage.world().segment();
      std::vector<std::uint32_t> results(std::size_t{segment.capacity()} * kStageFunctionCountMax);
      ++ready;
      while (ready < threads) std::this_thread::yield();
      std::uint64_t own = 0;
      for (std::uint32_t slot = kSlots / threads * t; !stop; slot = (slot + 1) % kSlots) {
        functions.compute(0, segment.batch(slot), results.data());
        ++own;
      }
      batches += own;
    });
  }
  while (ready < threads) std::this_thread::yield();
  const Clock::time_point start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  const double took = seconds_since(start);
  workers.clear();
  return static_cast<double>(batches) * packets / took;
}

nlohmann::json json_of(const Stage& stage, double rate) {
  return {{"mpps", rate / 1e6}, {"gbps", rate * stage.bytes_per_packet() * 8 / 1e9}};
}
nlohmann::json json_of(const Stage& stage, const Spread& rate) {
  nlohmann::json json = json_of(stage, rate.median);
  json["low"] = rate.low / 1e6;
  json["high"] = rate.high / 1e6;
  return json;
}

/// Every figure of a case; `load`: with so many batches under way, what comes through and, by
/// Little's law, how long a batch is there on average. These are single samples; with as many under
/// way as gave most of them the rate is then measured, anew.
nlohmann::json measure(const Options& options, const std::string& name, Stage& stage,
                       std::uint32_t packets) {
  nlohmann::json result = {{"name", name},
                           {"packets", packets},
                           {"bytes_each", stage.bytes_per_packet()},
                           {"read_each", stage.read_bytes_per_packet()}};
  for (const auto& [key, threads] : {std::pair{"cpu_one", 1u}, {"cpu_all", options.threads}}) {
    const auto sample = [&, count = threads] {
      return rate_of_cpu(stage, count, packets, options.seconds);
    };
    result[key] = json_of(stage, spread_of(options.samples, sample));
  }
  ResidentDevice gpu(stage.world().context("gpu.0.a"), 0);
  const std::vector<double> times = latencies(stage, gpu);
  result["p50_us"] = times[times.size() / 2];
  result["p99_us"] = times[times.size() * 99 / 100];
  double best = 0;
  std::uint32_t best_under_way = 1;
  for (const std::uint32_t under_way : {1u, 4u, 16u, 64u, 256u, 1024u, 2000u}) {
    const double rate = rate_of_gpu(stage, gpu, packets, under_way, options.seconds);
    nlohmann::json point = json_of(stage, rate);
    point["batches"] = under_way;
    point["mean_us"] = under_way / (rate / packets) * 1e6;
    if (rate > best) best_under_way = under_way;
    best = std::max(best, rate);
    result["load"].push_back(point);
  }
  const auto sample = [&] {
    return rate_of_gpu(stage, gpu, packets, best_under_way, options.seconds);
  };
  result["gpu"] = json_of(stage, spread_of(options.samples, sample));
  result["gpu"]["batches"] = best_under_way;
  return result;
}

void print(const Options& options, const nlohmann::json& result) {
  const auto figure = [&](const char* of, const char* key) {
    return result[of][key].get<double>();
  };
  std::printf(
      "%-28s %4u packets a batch, %6.1f bytes each, %6.1f read: GPU p50 %5.1f p99 %5.1f us; %7.1f "
      "Mpps (%.1f to %.1f) %6.1f Gbit/s with %4u batches under way | CPU 1 core %7.2f Mpps, %u "
      "cores %7.1f (%.1f to %.1f) Mpps %6.1f Gbit/s | GPU / all cores %.2f\n",
      result["name"].get_ref<const std::string&>().c_str(), result["packets"].get<unsigned>(),
      result["bytes_each"].get<double>(), result["read_each"].get<double>(),
      result["p50_us"].get<double>(), result["p99_us"].get<double>(), figure("gpu", "mpps"),
      figure("gpu", "low"), figure("gpu", "high"), figure("gpu", "gbps"),
      result["gpu"]["batches"].get<unsigned>(), figure("cpu_one", "mpps"), options.threads,
      figure("cpu_all", "mpps"), figure("cpu_all", "low"), figure("cpu_all", "high"),
      figure("cpu_all", "gbps"), figure("gpu", "mpps") / figure("cpu_all", "mpps"));
  std::fflush(stdout);
}

using Results = std::vector<nlohmann::json>;

/// One batch size after the other.
void measure_sizes(const Options& options, Results& results, const Case& what,
                   const Frames& frames) {
  for (const std::uint32_t packets : options.sizes) {
    Stage stage(what, packets, frames);
    results.push_back(measure(options, what.name, stage, packets));
    print(options, results.back());
  }
}

void write_json(const Options& options, const Results& results, double copy) {
  if (options.json.empty()) return;
  std::ofstream file(options.json);
  file << nlohmann::json{{"threads", options.threads},
                         {"copy_gbps", copy * 8 / 1e9},
                         {"cases", results}}
              .dump(1)
       << "\n";
  if (!file.flush()) throw Error("cannot write " + options.json);
}

/// What DPDK's library for the same does on all cores: `sample` gives millions of look-ups a
/// second, without packets. Put beside the results from `first` on.
template <typename Sample>
void put_library(const Options& options, const char* name, Results& results, std::size_t first,
                 Sample sample) {
  const Spread rate = spread_of(options.samples, sample);
  std::printf("%s, look-ups alone, 64 at once: %u threads %.1f M/s (%.1f to %.1f)\n", name,
              options.threads, rate.median, rate.low, rate.high);
  for (std::size_t i = first; i < results.size(); ++i) {
    results[i]["library"] = {
        {"name", name}, {"mps", rate.median}, {"low", rate.low}, {"high", rate.high}};
  }
}

/// The CPU by its bit vectors: sixteen tables of rte_acl would take minutes and gigabytes to build.
/// Beside it the look-ups alone of one such table that all threads share, without packets.
void run_acl(const Options& options, Results& results) {
  const AclTrace trace = read_acl_trace(options.trace);
  const std::size_t first = results.size();
  Case acl{"acl " + std::filesystem::path(options.acl).stem().string(), "acl, method: bits",
           "rules", text_of(options.acl)};
  measure_sizes(options, results, acl, Frames(trace, false));
  acl.name += ", with options";
  measure_sizes(options, results, acl, Frames(trace, true));
  const AclSearch search(plain_rules(read_acl_rules(options.acl)));
  put_library(options, "rte_acl", results, first, [&] {
    return acl_rate::rate(
        trace, [&](auto keys, auto words) { search.look_up(keys, words); }, options.threads,
        kAclKeysMax, options.seconds);
  });
}

/// Throws Error if `route` would drop a packet instead of looking it up.
void require_looked_up(Stage& stage) {
  const SegmentView& segment = stage.world().segment();
  FunctionStages functions(stage.world().context("cpu.0"));
  std::vector<std::uint32_t> words(std::size_t{segment.capacity()} * kStageFunctionCountMax);
  const Batch batch = segment.batch(0);
  functions.compute(0, batch, words.data());
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    if ((words[i] & kRouteDrop) != 0) throw Error("route drops the bench's packets");
  }
}

void run_routes(const Options& options, Results& results) {
  constexpr std::size_t kMadePrefixes = 900'000, kAddresses = 1 << 16;
  const std::vector<FibPrefix> prefixes =
      options.routes.empty() ? made_prefixes(kMadePrefixes) : read_prefixes(options.routes);
  const std::string name =
      "route, " + std::to_string(prefixes.size()) + " prefixes, 64-byte frames";
  const Case route{name, "route", "table", routes_text(prefixes, "b")};
  const Frames frames(60, addresses_in(prefixes, kAddresses, 1));
  const std::size_t first = results.size();
  for (const std::uint32_t packets : options.sizes) {
    Stage stage(route, packets, frames);
    require_looked_up(stage);
    results.push_back(measure(options, name, stage, packets));
    print(options, results.back());
  }
  const Fib fib(prefixes);
  put_library(options, "rte_fib", results, first, [&] {
    return look_up_rate<std::uint64_t>(
        options.threads, 64, options.seconds,
        [&](unsigned thread) { return addresses_in(prefixes, kAddresses, thread); },
        [&](auto addresses, auto hops) { fib.look_up(addresses, hops); });
  });
}

std::string rules_of(const Options& options) {
  return options.rules.empty() ? "alert \"literal that is not there\"\n" : text_of(options.rules);
}

void run_capture(const Options& options, Results& results) {
  const std::string name = "match, " + std::filesystem::path(options.capture).stem().string();
  measure_sizes(options, results, {name, "match", "rules", rules_of(options)},
                Frames(options.capture));
}

void run_frames(const Options& options, Results& results) {
  run_routes(options, results);
  const std::vector<std::uint32_t> anywhere(4096, 0xc0000209);
  measure_sizes(options, results, {"match, 1504-byte frames", "match", "rules", rules_of(options)},
                Frames(1504u, anywhere));
}

void run(const Options& options) {
  utsname host{};
  uname(&host);
  std::printf("host %s %s, %u cores\n", host.sysname, host.release, allowed_cores());
  std::string reason;
  if (gpu_count(reason) == 0) throw Error(reason);  // before the CPU is measured for minutes
  Results results;
  if (options.copy) {
    // nothing else
  } else if (!options.acl.empty()) {
    run_acl(options, results);
  } else if (!options.capture.empty()) {
    run_capture(options, results);
  } else {
    run_frames(options, results);
  }
  const double copy = copy_bytes_per_second(64 << 20);
  std::printf("copy of pinned memory to the GPU: %.1f GB/s\n", copy / 1e9);
  write_json(options, results, copy);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  millrace::Options options;
  CLI::App app("What a GPU does with batches in place, beside all CPU cores of this host");
  app.add_option("--rules", options.rules, "a rule file of match");
  app.add_option("--routes", options.routes, "prefixes of IPv4, or a route table");
  app.add_option("--capture", options.capture, "packets for match (pcap): they alone are measured");
  CLI::Option* acl =
      app.add_option("--acl", options.acl, "a rule file of acl: it alone is measured");
  acl->needs(app.add_option("--trace", options.trace, "a trace for it (ClassBench)")->needs(acl));
  app.add_flag("--copy", options.copy, "only what copying to the GPU reaches");
  app.add_option("--seconds", options.seconds, "of each sample");
  app.add_option("--samples", options.samples, "of each rate, whose median counts")
      ->check(CLI::Range(1, 1000));
  app.add_option("--sizes", options.sizes, "packets a batch")->check(CLI::Range(1, 256));
  app.add_option("--json", options.json, "also write the figures there (gpu.py draws them)");
  app.add_option("--threads", options.threads, "CPU threads to compare with");
  CLI11_PARSE(app, argc, argv);
  try {
    millrace::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace-gpu-figures: %s\n", error.what());
    return 1;
  }
  return 0;
}
