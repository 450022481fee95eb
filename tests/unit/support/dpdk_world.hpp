// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <rte_eal.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "io-worker/driver/dpdk_process.hpp"
#include "io-worker/ingress/buffer_pool.hpp"
#include "services/hub/dpdk_ports.hpp"
#include "tests/unit/support/small_world.hpp"

/// Hub, ingress and egress of a DPDK port in one process with an EAL of its own, over a driver that
/// makes packets and swallows them: neither root nor huge pages.

namespace millrace::test {

inline void start_test_eal() {
  static const bool started = [] {
    const std::string prefix = "millrace-test-" + std::to_string(getpid());
    std::array<std::string, 13> words = {
        "test",        "--no-shconf", "--no-huge",      "-m",
        "64",          "--no-pci",    "--no-telemetry", "--iova-mode=va",
        "--log-level", "critical",    "--file-prefix",  "millrace-test-" + std::to_string(getpid()),
        "--lcores=0"};
    std::array<char*, words.size() + 1> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    const bool started = rte_eal_init(static_cast<int>(words.size()), arguments.data()) >= 0;
    rmdir(rte_eal_get_runtime_dir());  // made even for a process that keeps nothing in it
    return started;
  }();
  ASSERT_TRUE(started);
}

class DpdkWorld {
 public:
  explicit DpdkWorld(const std::string& settings = "rx_descriptors: 64, tx_descriptors: 64",
                     const std::string& arguments = "size=80")
      : world(topology(settings, arguments)),
        hub(world.context("hub")),
        ingress(world.context("ingress.a.0")),
        egress(world.context("egress.0")) {}
  SmallWorld world;
  ActorContext hub, ingress, egress;

  std::uint32_t marked(MarkKind kind) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < world.segment.buffer_count(); ++i) {
      count += Mark::from_word(world.segment.mark(i)).kind == kind ? 1 : 0;
    }
    return count;
  }

 private:
  /// Each port of the test program has a device of its own.
  static std::string topology(const std::string& settings, const std::string& arguments) {
    start_test_eal();
    static int number = 0;
    return "millrace: 1\nname: driver\nports:\n  a: { device: dpdk, devargs: 'net_null" +
           std::to_string(number++) + "," + arguments + "', " + settings +
           " }\npaths:\n  p: { from: [a], to: a, run: [], slots: 4 }\n";
  }
};

}  // namespace millrace::test
