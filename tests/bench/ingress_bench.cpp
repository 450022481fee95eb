// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What one core of an ingress costs a packet, from the port to the push of its batch, without other
// cores: `ingress_bench`. Time is that of IngressActor::do_work() alone; between two of its turns
// the same thread plays the egress and gives everything back. Packets a second: items_per_second,
// ns a packet `ns`.
//
// Instructions a packet, where the host has no counters of its own: valgrind --tool=callgrind with
// --toggle-collect='millrace::IngressActor::do_work()', one case by --benchmark_filter, and then
// its `Collected` divided by the counter `packets`, which counts every turn since the start.

#include <benchmark/benchmark.h>
#include <rte_eal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "io-worker/driver/dpdk_process.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/ports/packet_maker.hpp"
#include "io-worker/ports/pcap_format.hpp"
#include "services/hub/dpdk_ports.hpp"
#include "shared/base/turn_clock.hpp"
#include "shared/links/ledger.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kPackets = 1024;

/// A capture of generated packets, removed with its owner.
class CaptureFile {
 public:
  CaptureFile() {
    GenerateSettings settings;
    settings.sizes = {60};
    settings.destinations = {{0x0a000000, 0xffffff}};
    PacketMaker maker(settings, {}, 0);
    const int file = ::mkstemp(path_.data());
    ::close(file);
    std::string data(kPcapFileHeaderBytes, 0);
    put_pcap_header(reinterpret_cast<std::byte*>(data.data()));
    for (std::uint32_t i = 0; i < kPackets; ++i) {
      std::array<std::byte, 60> frame;
      maker.make(frame.data(), 0);
      std::string header(kPcapRecordHeaderBytes, 0);
      put_pcap_record_header(reinterpret_cast<std::byte*>(header.data()), i, frame.size(),
                             frame.size());
      data += header;
      data.append(reinterpret_cast<const char*>(frame.data()), frame.size());
    }
    std::ofstream(path_, std::ios::binary) << data;
  }
  ~CaptureFile() { ::unlink(path_.c_str()); }
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/ingress-bench-XXXXXX";
};

/// Gives few packets at a time, as a port does that is not loaded.
class Thin final : public RxQueue {
 public:
  Thin(std::unique_ptr<RxQueue> from, std::size_t most) : from_(std::move(from)), most_(most) {}
  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    return from_->poll(pool, out.first(std::min(out.size(), most_)));
  }
  void resume(std::uint64_t wanted) noexcept override { from_->resume(wanted); }
  bool exhausted() const noexcept override { return from_->exhausted(); }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return from_->held(); }

 private:
  std::unique_ptr<RxQueue> from_;
  std::size_t most_;
};

std::string topology(const std::string& port, std::int64_t lanes, bool filters) {
  const std::string each = ", run: [], lanes: " + std::to_string(lanes) +
                           ", slots: " + std::to_string(std::max<std::int64_t>(16, 3 * lanes)) +
                           " }\n";
  std::string text =
      "millrace: 1\nname: bench\nports:\n  a: " + port + "\n  b: { device: \"null\" }\npaths:\n";
  if (filters) text += "  first: { from: [a], to: b, match: \"udp port 53\"" + each;
  return text + "  rest: { from: [a], to: b" + each;
}

/// An ingress and what plays its egress.
class Circuit {
 public:
  Circuit(test::SmallWorld& world, const ActorContext& context, BufferPool& pool, RxQueue& queue)
      : world_(world),
        ingress_(context, 0, pool, queue),
        link_(world.link("ingress.a.0", "egress.0")),
        buffers_(world.segment.buffer_return(0, Returner::kEgress)),
        slots_(world.segment.slot_return(0, Returner::kEgress)) {
    ingress_.read_roster();
  }
  void run(benchmark::State& state) {
    const TscScale scale(measure_tsc_hz());
    const std::uint64_t first = packets_, first_batch = batches_;
    std::uint64_t ticks = 0;
    for (auto _ : state) {
      const std::uint64_t begin = turn_clock::read();
      ingress_.do_work();
      const std::uint64_t took = tsc_now() - begin;
      ticks += took;
      state.SetIterationTime(static_cast<double>(scale.to_ns(took)) / 1e9);
      release();
    }
    const auto count = static_cast<double>(packets_ - first);
    state.SetItemsProcessed(static_cast<std::int64_t>(packets_ - first));
    state.counters["ns"] = static_cast<double>(scale.to_ns(ticks)) / count;
    state.counters["fill"] = count / static_cast<double>(batches_ - first_batch);
    state.counters["packets"] = static_cast<double>(g_packets += packets_ - first);
  }

 private:
  /// Everything that has left is released, oldest first.
  void release() noexcept {
    std::array<std::uint64_t, 64> words;
    const auto stamp = [&](std::uint64_t) {};
    std::uint32_t count = 0;
    while ((count = link_.take(words, stamp)) != 0) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const Batch batch = world_.segment.batch(Descriptor::from_word(words[i]).slot);
        LaneLedger& ledger = world_.status.ledger(0, batch.header->lane);
        begin_record(ledger, *batch.header);
        publish(ledger);
        packets_ += batch.count;
        ++batches_;
        MILLRACE_CHECK(buffers_.push(batch.buffer));
        batch.header->state = 0;
      }
      MILLRACE_CHECK(slots_.push({words.data(), count}));
    }
  }

  static inline std::uint64_t g_packets = 0;
  test::SmallWorld& world_;
  IngressActor ingress_;
  SpscRing<std::uint64_t> link_;
  SpscRing<std::uint32_t> buffers_;
  SpscRing<std::uint64_t> slots_;
  std::uint64_t packets_ = 0, batches_ = 0;
};

struct Setting {
  std::string port;
  std::int64_t lanes = 1;
  bool filters = false;
  LanesBy by = LanesBy::kFlow;
  std::size_t poll_most = kBurstMax;
};

void run(benchmark::State& state, const Setting& setting) {
  test::SmallWorld world(topology(setting.port, setting.lanes, setting.filters));
  Plan plan = world.plan;
  for (PlanPath& path : plan.paths) path.lanes_by = setting.by;
  ActorContext context = world.context("ingress.a.0");
  context.plan = &plan;
  world.start_all();
  BufferPool pool(context, 0);
  Thin queue(open_rx_queue(world.plan.ports[world.plan.streams[0].port], 0, pool, false),
             setting.poll_most);
  Circuit(world, context, pool, queue).run(state);
}

void replayed(benchmark::State& state, Setting setting) {
  const CaptureFile capture;
  setting.port = "{ device: replay, file: " + capture.path() + " }";
  setting.lanes = state.range(0);
  run(state, setting);
}

void flow(benchmark::State& state) {
  replayed(state, {.poll_most = static_cast<std::size_t>(state.range(1))});
}
BENCHMARK(flow)
    ->ArgNames({"lanes", "poll"})
    ->Args({1, 256})
    ->Args({8, 256})
    ->Args({32, 256})
    ->Args({1, 8})
    ->Args({8, 8})
    ->UseManualTime();

void addresses(benchmark::State& state) { replayed(state, {.by = LanesBy::kAddresses}); }
BENCHMARK(addresses)->ArgName("lanes")->Arg(8)->UseManualTime();

void filters(benchmark::State& state) { replayed(state, {.filters = true}); }
BENCHMARK(filters)->ArgName("lanes")->Arg(8)->UseManualTime();

void generated(benchmark::State& state) {
  run(state, {.port = "{ device: generate }", .lanes = state.range(0)});
}
BENCHMARK(generated)->ArgName("lanes")->Arg(1)->Arg(8)->UseManualTime();

/// DPDK's null driver, in this process: it allocates and writes no byte.
void dpdk(benchmark::State& state) {
  static const bool started = [] {
    std::array<std::string, 9> words = {
        "ingress_bench", "--no-shconf",    "--no-huge",      "-m",        "64",
        "--no-pci",      "--no-telemetry", "--iova-mode=va", "--lcores=0"};
    std::array<char*, words.size() + 1> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    const bool runs = rte_eal_init(static_cast<int>(words.size()), arguments.data()) >= 0;
    ::rmdir(rte_eal_get_runtime_dir());  // made even for a process that keeps nothing in it
    return runs;
  }();
  if (!started) return state.SkipWithError("EAL does not start");
  static int number = 0;
  test::SmallWorld world(
      topology("{ device: dpdk, devargs: 'net_null" + std::to_string(number++) + ",size=60' }",
               state.range(0), false));
  const DpdkPorts hub(world.context("hub"));
  world.start_all();
  const ActorContext context = world.context("ingress.a.0");
  BufferPool pool(context, 0);
  DpdkProcess process(context, "");
  const auto queue = process.open_rx(0, pool);
  Circuit(world, context, pool, *queue).run(state);
}
BENCHMARK(dpdk)->ArgName("lanes")->Arg(1)->Arg(8)->UseManualTime();

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
