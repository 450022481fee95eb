// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/port.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;
using test::TestPool;

TEST(Ports, NameTheNearestDeviceForAnUnknownOne) {
  EXPECT_EQ(error_of([] { check_port(make_port("replai", {})); }),
            "port 'lan': unknown device 'replai', did you mean 'replay'? allowed: "
            "afpacket, afxdp, pcap, replay, generate, null, dpdk, tap, vlan, loop");
  EXPECT_EQ(error_of([] { port_queues(make_port("quantum", {})); }),
            "port 'lan': unknown device 'quantum' allowed: afpacket, afxdp, pcap, replay, "
            "generate, null, dpdk, tap, vlan, loop");
}

TEST(Ports, TellHowManyQueuesTheyHave) {
  const auto queues = [](const char* device, Settings settings) {
    const PortQueues found = port_queues(make_port(device, std::move(settings)));
    return std::pair(found.receive, found.send);
  };
  EXPECT_EQ(queues("pcap", {{"in", "a"}, {"out", "b"}}), std::pair(1u, 1u));
  EXPECT_EQ(queues("replay", {{"file", "a"}, {"queues", "3"}}), std::pair(3u, 0u));
  EXPECT_EQ(queues("generate", {}), std::pair(1u, 0u));
  EXPECT_EQ(queues("null", {}), std::pair(1u, kPortQueueCountMax));
}

TEST(Ports, RefuseAQueueThatTheyDoNotHave) {
  const TestPool pool(4);
  EXPECT_EQ(error_of([&] { open_rx_queue(make_port("generate", {}), 1, pool, false); }),
            "port 'lan' (generate), receive queue 1: this port has 1");
  EXPECT_EQ(error_of([&] {
              open_rx_queue(make_port("pcap", {{"out", "a"}}), 0, pool, false);
            }),
            "port 'lan' (pcap), receive queue 0: this port has none");
  EXPECT_EQ(error_of([] { open_tx_queue(make_port("generate", {}), 0, false); }),
            "port 'lan' (generate), transmit queue 0: this port has none");
  EXPECT_EQ(error_of([] {
              open_tx_queue(make_port("pcap", {{"in", "a"}}), 0, false);
            }),
            "port 'lan' (pcap), transmit queue 0: this port has none");
}

}  // namespace
}  // namespace millrace
