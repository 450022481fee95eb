// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Bare forwarding on DPDK's null driver: what `dpdk.py` compares a `dpdk` port with. Nothing of
// Millrace is in it; buffers are of DPDK's own pool.
//
//     millrace-dpdk-loop CORE SECONDS            receive and transmit on one core; headers come out
//                                                of the pool's cache, where a few are enough
//     millrace-dpdk-loop CORE SECONDS HEADERS    the same, but all headers of the pool in turn
//     millrace-dpdk-loop CORE,CORE SECONDS       a core receives, another one transmits, a ring of
//                                                DPDK between them

#include <emmintrin.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "tests/bench/instruction_counter.hpp"

namespace {

constexpr std::uint16_t kBurst = 32;  // testpmd's
constexpr unsigned kBuffers = 8191;
constexpr unsigned kCached = 256;
constexpr unsigned kRingEntries = 1024;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "millrace-dpdk-loop: %s\n", what);
  std::exit(1);
}

/// `cores`: one, or two with a comma.
void start_eal(const std::string& cores) {
  const std::size_t comma = cores.find(',');
  std::string lcores = "0@" + cores.substr(0, comma);
  if (comma != std::string::npos) lcores += ",1@" + cores.substr(comma + 1);
  std::vector<std::string> words = {"millrace-dpdk-loop",
                                    "--in-memory",
                                    "--no-pci",
                                    "--no-telemetry",
                                    "-m",
                                    "64",
                                    "--lcores",
                                    lcores,
                                    "--log-level",
                                    "error",
                                    "--vdev",
                                    "net_null0,size=60",
                                    "--vdev",
                                    "net_null1,size=60"};
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
    fail("DPDK does not start: 32 huge pages of 2 MB have to be free");
  }
}

/// `headers`: so many, and all of them in turn, as a pool without a cache gives them; 0: as many as
/// the pool and its cache keep warm.
rte_mempool* make_pool(unsigned headers) {
  rte_mempool* pool =
      headers == 0
          ? rte_pktmbuf_pool_create("loop", kBuffers, kCached, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                    SOCKET_ID_ANY)
          : rte_pktmbuf_pool_create_by_ops("loop", headers, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                           SOCKET_ID_ANY, "ring_sp_sc");
  if (pool == nullptr) fail("no memory for buffers");
  return pool;
}

void start_port(std::uint16_t port, rte_mempool* pool) {
  const rte_eth_conf nothing{};
  if (rte_eth_dev_configure(port, 1, 1, &nothing) != 0 ||
      rte_eth_rx_queue_setup(port, 0, 512, SOCKET_ID_ANY, nullptr, pool) != 0 ||
      rte_eth_tx_queue_setup(port, 0, 512, SOCKET_ID_ANY, nullptr) != 0 ||
      rte_eth_dev_start(port) != 0) {
    fail("a null port does not start");
  }
}

/// Packets from port 0 to port 1 until the time is over.
std::uint64_t forward(std::chrono::duration<double> time) {
  const auto end = std::chrono::steady_clock::now() + time;
  rte_mbuf* packets[kBurst];
  std::uint64_t count = 0;
  do {
    for (int i = 0; i < 1000; ++i) {
      const std::uint16_t got = rte_eth_rx_burst(0, 0, packets, kBurst);
      const std::uint16_t sent = rte_eth_tx_burst(1, 0, packets, got);
      rte_pktmbuf_free_bulk(packets + sent, got - sent);
      count += sent;
    }
  } while (std::chrono::steady_clock::now() < end);
  return count;
}

/// What the two cores of the pipeline share.
struct Pipeline {
  rte_ring* ring = nullptr;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> sent = 0;
};

int transmit(void* of) {
  auto& pipeline = *static_cast<Pipeline*>(of);
  rte_mbuf* packets[kBurst];
  while (!pipeline.stop.load(std::memory_order_relaxed)) {
    const unsigned got = rte_ring_sc_dequeue_burst(pipeline.ring, reinterpret_cast<void**>(packets),
                                                   kBurst, nullptr);
    if (got == 0) _mm_pause();
    const std::uint16_t sent = rte_eth_tx_burst(1, 0, packets, static_cast<std::uint16_t>(got));
    rte_pktmbuf_free_bulk(packets + sent, got - sent);
    pipeline.sent.store(pipeline.sent.load(std::memory_order_relaxed) + sent,
                        std::memory_order_relaxed);
  }
  return 0;
}

/// Packets from port 0 into the ring until the time is over; returns what the other core sent.
std::uint64_t receive(Pipeline& pipeline, std::chrono::duration<double> time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const std::uint64_t before = pipeline.sent;
  rte_mbuf* packets[kBurst];
  do {
    for (int i = 0; i < 1000; ++i) {
      const unsigned got = rte_eth_rx_burst(0, 0, packets, kBurst);
      for (unsigned at = 0; at < got;) {
        at += rte_ring_sp_enqueue_burst(pipeline.ring, reinterpret_cast<void**>(packets + at),
                                        got - at, nullptr);
        if (at < got) _mm_pause();
      }
    }
  } while (std::chrono::steady_clock::now() < end);
  return pipeline.sent - before;
}

/// Runs `forward` for a moment, then for `seconds`, and prints what it says.
template <typename Forward>
void measure(double seconds, const Forward& forward) {
  forward(std::chrono::duration<double>(0.2));
  const millrace::InstructionCounter counter(::getpid());
  const auto instructions = counter.read();
  const auto began = std::chrono::steady_clock::now();
  const auto count = static_cast<double>(forward(std::chrono::duration<double>(seconds)));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
  const auto after = counter.read();
  std::printf("{\"mpps\": %.3f, \"instructions_per_packet\": ", count / time.count() / 1e6);
  if (instructions && after && count > 0) {
    std::printf("%.1f}\n", static_cast<double>(*after - *instructions) / count);
  } else {
    std::puts("null}");
  }
}

template <typename Number>
Number number_of(const std::string& text, const char* what) {
  Number number{};
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) fail(what);
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) fail("usage: millrace-dpdk-loop CORE[,CORE] SECONDS [HEADERS]");
  const auto seconds = number_of<double>(argv[2], "SECONDS is no number");
  const auto headers = argc == 4 ? number_of<unsigned>(argv[3], "HEADERS is no number") : 0u;
  start_eal(argv[1]);
  rte_mempool* pool = make_pool(headers);
  start_port(0, pool);
  start_port(1, pool);
  if (rte_lcore_count() == 1) {
    measure(seconds, forward);
    return 0;
  }
  Pipeline pipeline;
  pipeline.ring =
      rte_ring_create("loop_link", kRingEntries, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (pipeline.ring == nullptr) fail("no memory for the ring");
  if (rte_eal_remote_launch(transmit, &pipeline, 1) != 0) fail("the second core does not start");
  measure(seconds, [&](auto time) { return receive(pipeline, time); });
  pipeline.stop = true;
  rte_eal_wait_lcore(1);
  return 0;
}
