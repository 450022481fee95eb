// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What one core of a port costs, without rings and classifiers: `ports_bench`. Packets a second are
// items_per_second.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "io-worker/ports/pcap_format.hpp"
#include "io-worker/ports/port.hpp"

namespace {

using millrace::PlanPort;

constexpr std::uint32_t kBuffers = 1024;
constexpr std::uint32_t kBurst = 64;

/// The pool as the ingress has it: a LIFO, and a mark for each free buffer.
class BenchPool final : public millrace::BufferSource {
 public:
  BenchPool() : memory_(std::size_t{kBuffers} * millrace::kBufferStrideDefault), free_(kBuffers) {
    std::iota(free_.begin(), free_.end(), 0u);
  }
  std::uint32_t take(std::span<std::uint32_t> out) noexcept override {
    for (std::uint32_t& buffer : out) {
      buffer = free_.back();
      free_.pop_back();
    }
    return static_cast<std::uint32_t>(out.size());
  }
  bool take_exactly(std::uint32_t) noexcept override { return true; }
  void give_back(std::span<const std::uint32_t> buffers) noexcept override {
    free_.insert(free_.end(), buffers.begin(), buffers.end());
  }
  millrace::BufferArea area() const noexcept override {
    return {const_cast<std::byte*>(memory_.data()), millrace::kBufferStrideDefault};
  }
  std::uint32_t first() const noexcept override { return 0; }
  std::uint32_t count() const noexcept override { return kBuffers; }

 private:
  std::vector<std::byte> memory_;
  std::vector<std::uint32_t> free_;
};

PlanPort port_of(std::string device, millrace::Settings settings) {
  PlanPort port;
  port.name = "bench";
  port.device = std::move(device);
  port.settings = std::move(settings);
  port.mac = "02:00:00:00:00:01";
  return port;
}

/// A capture of `packets` frames of `bytes`, removed with its owner.
class CaptureFile {
 public:
  CaptureFile(std::uint32_t packets, std::uint32_t bytes) {
    const int file = ::mkstemp(path_.data());
    ::close(file);
    std::string data(millrace::kPcapFileHeaderBytes, 0);
    millrace::put_pcap_header(reinterpret_cast<std::byte*>(data.data()));
    for (std::uint32_t i = 0; i < packets; ++i) {
      std::string record(millrace::kPcapRecordHeaderBytes + bytes, 'x');
      millrace::put_pcap_record_header(reinterpret_cast<std::byte*>(record.data()), i, bytes,
                                       bytes);
      data += record;
    }
    std::ofstream(path_, std::ios::binary) << data;
  }
  ~CaptureFile() { ::unlink(path_.c_str()); }
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/ports-bench-XXXXXX";
};

void receive(benchmark::State& state, const PlanPort& port, bool from_lifo) {
  BenchPool pool;
  const auto queue = millrace::open_rx_queue(port, 0, pool, false);
  std::vector<millrace::RxPacket> out(kBurst);
  std::vector<std::uint32_t> buffers(kBurst);
  std::int64_t packets = 0;
  for (auto _ : state) {
    const std::uint32_t count = queue->poll(pool, out);
    for (std::uint32_t i = 0; i < count; ++i) buffers[i] = out[i].buffer;
    if (from_lifo) pool.give_back(std::span(buffers).first(count));
    packets += count;
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(packets);
}

void generate(benchmark::State& state) {
  receive(state,
          port_of("generate", {{"size", std::to_string(state.range(0))},
                               {"flows", std::to_string(state.range(1))},
                               {"numbered", state.range(2) != 0 ? "true" : "false"}}),
          true);
}
BENCHMARK(generate)
    ->ArgNames({"bytes", "flows", "numbered"})
    ->Args({60, 1024, 0})
    ->Args({64, 1024, 0})
    ->Args({64, 1'000'000, 0})
    ->Args({82, 1024, 1})
    ->Args({1514, 1024, 0});

void replay(benchmark::State& state) {
  const CaptureFile capture(512, static_cast<std::uint32_t>(state.range(0)));
  receive(
      state,
      port_of("replay", {{"file", capture.path()}, {"copy", state.range(1) ? "true" : "false"}}),
      false);
}
BENCHMARK(replay)
    ->ArgNames({"bytes", "copy"})
    ->Args({60, 0})
    ->Args({128, 0})
    ->Args({1514, 0})
    ->Args({1514, 1});

void pcap_write(benchmark::State& state) {
  const CaptureFile out(0, 0);
  const auto queue = millrace::open_tx_queue(port_of("pcap", {{"out", out.path()}}), 0, false);
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)));
  const millrace::TxPacket packet{.bytes = bytes,
                                  .wire_length = static_cast<std::uint32_t>(bytes.size())};
  const std::vector<millrace::TxPacket> burst(kBurst, packet);
  for (auto _ : state) benchmark::DoNotOptimize(queue->send(burst));
  state.SetItemsProcessed(state.iterations() * kBurst);
}
BENCHMARK(pcap_write)->ArgName("bytes")->Arg(60)->Arg(1514)->Iterations(2000);

}  // namespace

BENCHMARK_MAIN();
