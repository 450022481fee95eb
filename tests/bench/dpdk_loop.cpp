// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A bare receive and transmit loop on DPDK's null driver, one core: what `dpdk.py` compares a
// `dpdk` port with. Nothing of Millrace is in it: buffers are of DPDK's own pool and its cache.

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

namespace {

constexpr std::uint16_t kBurst = 32;  // testpmd's
constexpr unsigned kBuffers = 8191;
constexpr unsigned kCached = 256;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "millrace-dpdk-loop: %s\n", what);
  std::exit(1);
}

void start_eal(const std::string& core) {
  std::vector<std::string> words = {"millrace-dpdk-loop",
                                    "--in-memory",
                                    "--no-pci",
                                    "--no-telemetry",
                                    "-m",
                                    "64",
                                    "--lcores",
                                    "0@" + core,
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: millrace-dpdk-loop CORE SECONDS");
  double seconds = 0;
  const std::string text = argv[2];
  if (std::from_chars(text.data(), text.data() + text.size(), seconds).ec != std::errc{}) {
    fail("SECONDS is no number");
  }
  start_eal(argv[1]);
  rte_mempool* pool = rte_pktmbuf_pool_create("loop", kBuffers, kCached, 0,
                                              RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (pool == nullptr) fail("no memory for buffers");
  start_port(0, pool);
  start_port(1, pool);
  forward(std::chrono::duration<double>(0.2));
  const auto began = std::chrono::steady_clock::now();
  const std::uint64_t count = forward(std::chrono::duration<double>(seconds));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
  std::printf("%.3f\n", static_cast<double>(count) / time.count() / 1e6);
  return 0;
}
