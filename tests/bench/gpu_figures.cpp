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

#include "gpu-worker/resident/resident_device.hpp"
#include "io-worker/ports/capture_reader.hpp"
#include "tests/bench/acl_rate.hpp"
#include "tests/bench/copy_rate.hpp"
#include "tests/gpu/gpu_world.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
using test::GpuWorld;

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
  unsigned threads = allowed_cores();
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Frames of a capture, again and again.
class Frames {
 public:
  explicit Frames(const std::string& path) {
    CaptureReader reader(path);
    CaptureRecord record;
    while (reader.next(record) == CaptureStatus::kRecord) {
      if (record.bytes.size() <= 1514) all_.emplace_back(record.bytes.begin(), record.bytes.end());
    }
    if (all_.empty()) throw Error(path + " holds no packet that fits");
  }
  /// Frames of one size, UDP, without a literal.
  explicit Frames(std::uint32_t bytes) {
    std::mt19937 random(5);
    for (int i = 0; i < 4096; ++i) {
      const std::uint32_t payload = bytes - 42;
      std::string text(payload, ' ');
      for (char& letter : text) letter = static_cast<char>(' ' + random() % 95);
      Frame frame = FrameBuilder().ipv4(17, 8 + payload).udp(payload).text(text).build();
      for (std::size_t at = 30; at < 34; ++at) frame[at] = static_cast<std::byte>(random());
      all_.push_back(std::move(frame));
    }
  }
  explicit Frames(const AclTrace& trace) {
    std::mt19937 random(5);
    for (AclKey key : trace.keys) {
      // Another protocol would have no ports; TCP instead meets as many rules.
      if (key.protocol != 17) key.protocol = 6;
      all_.push_back(frame_of(key));
    }
    std::ranges::shuffle(all_, random);
  }
  const Frame& next() { return all_[at_++ % all_.size()]; }

 private:
  std::vector<Frame> all_;
  std::size_t at_ = 0;
};

constexpr std::uint32_t kSlots = 2048;

/// One function on a GPU.
struct Case {
  std::string name, type, table, text;  ///< `table`: the setting that names it
  std::uint32_t lanes = 1;              ///< of the path; with several a batch has keys of flows
};

/// One stage of a function on a GPU, and its batches.
class Stage {
 public:
  Stage(const Case& what, std::uint32_t batch_packets, Frames frames)
      : world_(yaml_of(what, batch_packets), {{"table", what.text}}) {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      std::vector<Frame> batch;
      for (std::uint32_t i = 0; i < batch_packets; ++i) batch.push_back(frames.next());
      for (const Frame& frame : batch) bytes_ += frame.size();
      world_.fill(slot, slot * batch_packets, batch);
    }
    packets_ = std::uint64_t{kSlots} * batch_packets;
  }
  GpuWorld& world() { return world_; }
  double bytes_per_packet() const {
    return static_cast<double>(bytes_) / static_cast<double>(packets_);
  }

 private:
  static std::string yaml_of(const Case& what, std::uint32_t capacity) {
    return "millrace: 1\nname: figures\nbatch: { capacity: " + std::to_string(capacity) +
           " }\nports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
           "workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }\n"
           "functions: { f: { type: " +
           what.type + ", " + what.table +
           ": table, on: gpu } }\n"
           "paths: { one: { from: [a], run: [f], slots: " +
           std::to_string(kSlots) + ", lanes: " + std::to_string(what.lanes) + " } }\n";
  }
  GpuWorld world_;
  std::uint64_t bytes_ = 0, packets_ = 0;
};

struct Rate {
  double packets = 0;  ///< a second
  double bytes = 0;
};

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

Rate rate_of_gpu(Stage& stage, Device& gpu, std::uint32_t packets, std::uint32_t under_way,
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
  const double rate = static_cast<double>(batches) * packets / took;
  return {rate, rate * stage.bytes_per_packet()};
}

/// The CPU's version of the function on `threads` threads, each with tables of its own.
Rate rate_of_cpu(Stage& stage, unsigned threads, std::uint32_t packets, double seconds) {
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
  const double rate = static_cast<double>(batches) * packets / took;
  return {rate, rate * stage.bytes_per_packet()};
}

nlohmann::json json_of(const Rate& rate) {
  return {{"mpps", rate.packets / 1e6}, {"gbps", rate.bytes * 8 / 1e9}};
}

/// Every figure of a case; `load`: with so many batches under way, what comes through and, by
/// Little's law, how long a batch is there on average.
nlohmann::json measure(const Options& options, const std::string& name, Stage& stage,
                       std::uint32_t packets) {
  nlohmann::json result = {
      {"name", name}, {"packets", packets}, {"bytes_each", stage.bytes_per_packet()}};
  result["cpu_one"] = json_of(rate_of_cpu(stage, 1, packets, options.seconds));
  result["cpu_all"] = json_of(rate_of_cpu(stage, options.threads, packets, options.seconds));
  ResidentDevice gpu(stage.world().context("gpu.0.a"), 0);
  const std::vector<double> times = latencies(stage, gpu);
  result["p50_us"] = times[times.size() / 2];
  result["p99_us"] = times[times.size() * 99 / 100];
  double best = 0;
  for (const std::uint32_t under_way : {1u, 4u, 16u, 64u, 256u, 1024u, 2000u}) {
    const Rate rate = rate_of_gpu(stage, gpu, packets, under_way, options.seconds);
    nlohmann::json point = json_of(rate);
    point["batches"] = under_way;
    point["mean_us"] = under_way / (rate.packets / packets) * 1e6;
    if (rate.packets > best) result["gpu"] = point;
    best = std::max(best, rate.packets);
    result["load"].push_back(point);
  }
  return result;
}

void print(const Options& options, const nlohmann::json& result) {
  const auto rate = [&](const char* key) { return result[key]["mpps"].get<double>(); };
  const auto bits = [&](const char* key) { return result[key]["gbps"].get<double>(); };
  std::printf(
      "%-28s %4u packets a batch, %6.1f bytes each: GPU p50 %5.1f p99 %5.1f us; %7.1f Mpps %6.1f "
      "Gbit/s %5.1f GB/s with %4u batches under way | CPU 1 core %7.2f Mpps %6.1f Gbit/s, %u cores "
      "%7.1f Mpps %6.1f Gbit/s | GPU / all cores %.2f\n",
      result["name"].get_ref<const std::string&>().c_str(), result["packets"].get<unsigned>(),
      result["bytes_each"].get<double>(), result["p50_us"].get<double>(),
      result["p99_us"].get<double>(), rate("gpu"), bits("gpu"), bits("gpu") / 8,
      result["gpu"]["batches"].get<unsigned>(), rate("cpu_one"), bits("cpu_one"), options.threads,
      rate("cpu_all"), bits("cpu_all"), rate("gpu") / rate("cpu_all"));
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

/// The CPU by its bit vectors: sixteen tables of rte_acl would take minutes and gigabytes to build.
/// Beside it the look-ups alone of one such table that all threads share, without packets.
void run_acl(const Options& options, Results& results) {
  const AclTrace trace = read_acl_trace(options.trace);
  const Frames frames(trace);
  const AclSearch search(plain_rules(read_acl_rules(options.acl)));
  const double rte_acl = acl_rate::rate(
      trace, [&](auto keys, auto words) { search.look_up(keys, words); }, options.threads,
      kAclKeysMax, options.seconds);
  std::printf("rte_acl, look-ups alone, 64 at once: %u threads %.1f M/s\n", options.threads,
              rte_acl);
  const std::size_t first = results.size();
  Case acl{"acl " + std::filesystem::path(options.acl).stem().string(), "acl, method: bits",
           "rules", text_of(options.acl)};
  measure_sizes(options, results, acl, frames);
  acl.name += ", keys";
  acl.lanes = 8;
  measure_sizes(options, results, acl, frames);
  for (std::size_t i = first; i < results.size(); ++i) results[i]["rte_acl_mps"] = rte_acl;
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
  const std::string routes = options.routes.empty()
                                 ? "0.0.0.0/0 b 02:00:00:00:00:01\n10.0.0.0/8 drop\n"
                                 : text_of(options.routes);
  measure_sizes(options, results, {"route, 64-byte frames", "route", "table", routes}, Frames(64u));
  measure_sizes(options, results, {"match, 1504-byte frames", "match", "rules", rules_of(options)},
                Frames(1504u));
}

void run(const Options& options) {
  utsname host{};
  uname(&host);
  std::printf("host %s %s, %u cores\n", host.sysname, host.release, allowed_cores());
  Results results;
  if (!options.acl.empty()) {
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
  app.add_option("--routes", options.routes, "a route table");
  app.add_option("--capture", options.capture, "packets for match (pcap): they alone are measured");
  CLI::Option* acl =
      app.add_option("--acl", options.acl, "a rule file of acl: it alone is measured");
  acl->needs(app.add_option("--trace", options.trace, "a trace for it (ClassBench)"));
  app.add_option("--seconds", options.seconds, "of each measurement");
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
