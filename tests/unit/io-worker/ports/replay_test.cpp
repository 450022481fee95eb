// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/replay.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::frame_of;
using test::make_port;
using test::take_all;
using test::Taken;
using test::TestFolder;
using test::TestPool;

class Replay : public testing::Test {
 protected:
  // A replay of `packets` frames: number i has 60 + i bytes.
  std::unique_ptr<RxQueue> open(std::uint32_t packets, Settings settings, const TestPool& pool,
                                std::uint32_t queue = 0) {
    settings.emplace_back("file", folder_.write("a", test::pcap_of(packets)));
    return open_rx_queue(make_port("replay", settings), queue, pool, false);
  }
  TestFolder folder_;
};

TEST_F(Replay, HandsOutTheCaptureAgainAndAgain) {
  TestPool pool(16);
  const auto queue = open(5, {}, pool);
  const std::vector<Taken> taken = take_all(*queue, pool, 1000);
  ASSERT_EQ(taken.size(), 1000u);
  std::set<std::uint32_t> buffers;
  for (std::uint32_t i = 0; i < taken.size(); ++i) {
    ASSERT_EQ(taken[i].bytes, frame_of(i % 5, 60 + i % 5));
    ASSERT_EQ(taken[i].packet.ordinal, i);
    ASSERT_EQ(taken[i].packet.buffer, pool.first() + i % 15);  // three whole copies
    ASSERT_EQ(taken[i].packet.wire_length, 60 + i % 5);
  }
  EXPECT_FALSE(queue->exhausted());
  EXPECT_EQ(queue->errors(), 0u);
}

TEST_F(Replay, EndsAfterOnePassOrAfterItsCount) {
  TestPool pool(16);
  const auto count = [&](Settings settings) {
    const auto queue = open(5, settings, pool);
    const std::size_t taken = take_all(*queue, pool, 1000).size();
    EXPECT_EQ(queue->exhausted(), taken < 1000);
    return taken;
  };
  EXPECT_EQ(count({{"loop", "false"}}), 5u);
  EXPECT_EQ(count({{"loop", "false"}, {"count", "3"}}), 3u);
  EXPECT_EQ(count({{"loop", "false"}, {"count", "30"}}), 5u);
  EXPECT_EQ(count({{"count", "33"}}), 33u);
  EXPECT_EQ(count({}), 1000u);
}

TEST_F(Replay, WaitsForABufferThatIsStillInFlight) {
  TestPool pool(6);
  const auto queue = open(3, {}, pool);
  RxPacket out[8];
  ASSERT_EQ(queue->poll(pool, out), 6u);
  EXPECT_EQ(queue->poll(pool, std::span(out + 6, 1)), 0u);
  pool.give_back(out[1]);  // not the next one
  EXPECT_EQ(queue->poll(pool, std::span(out + 6, 1)), 0u);
  pool.give_back(out[0]);
  RxPacket again[8];
  ASSERT_EQ(queue->poll(pool, again), 2u);
  EXPECT_EQ(again[0].ordinal, 6u);
  EXPECT_EQ(again[0].buffer, out[0].buffer);
}

TEST_F(Replay, RestoresTheStartOfAPacketOrAllOfIt) {
  for (const bool copy : {false, true}) {
    TestPool pool(4);
    const auto queue = open(4, {{"copy", copy ? "true" : "false"}}, pool);
    take_all(*queue, pool, 4);
    // A function scribbles over all packets.
    std::memset(pool.area().at(pool.first()), 'Z', std::size_t{4} * kBufferStrideDefault);
    for (const Taken& taken : take_all(*queue, pool, 4)) {
      const std::uint32_t number = taken.packet.ordinal % 4;
      EXPECT_EQ(taken.bytes, frame_of(number, 60 + number));
    }
  }
  for (const bool copy : {false, true}) {
    TestPool pool(1);
    Settings settings{{"copy", copy ? "true" : "false"}};
    settings.emplace_back(
        "file", folder_.write("b", test::pcap_header() + test::pcap_record(frame_of(1, 1000))));
    const auto queue = open_rx_queue(make_port("replay", settings), 0, pool, false);
    take_all(*queue, pool, 1);
    std::memset(pool.area().at(pool.first()), 'Z', kBufferStrideDefault);
    const std::string bytes = take_all(*queue, pool, 1).at(0).bytes;
    EXPECT_EQ(bytes.substr(0, kReplayRestoredBytes),
              frame_of(1, 1000).substr(0, kReplayRestoredBytes));
    EXPECT_EQ(bytes == frame_of(1, 1000), copy);
  }
}

TEST_F(Replay, GoesOnAtAnyNumberWithTheSameBuffers) {
  TestPool pool(16);
  const std::vector<Taken> whole = take_all(*open(5, {}, pool), pool, 200);
  for (std::uint32_t first = 0; first < 100; ++first) {
    const auto queue = open(5, {}, pool);
    queue->resume(first);
    const std::vector<Taken> taken = take_all(*queue, pool, 40);
    ASSERT_EQ(taken.size(), 40u);
    for (std::uint32_t i = 0; i < 40; ++i) {
      ASSERT_EQ(taken[i].bytes, whole[first + i].bytes);
      ASSERT_EQ(taken[i].packet.ordinal, first + i);
      ASSERT_EQ(taken[i].packet.buffer, whole[first + i].packet.buffer);
    }
  }
}

TEST_F(Replay, LeavesAloneWhatIsInFlightFromAnEarlierLife) {
  TestPool pool(5);
  RxPacket held[2];
  ASSERT_EQ(open(5, {}, pool)->poll(pool, held), 2u);
  std::memset(pool.area().at(held[0].buffer), 'A', kBufferStrideDefault);
  const auto queue = open(5, {}, pool);
  queue->resume(2);
  RxPacket out[8];
  ASSERT_EQ(queue->poll(pool, out), 3u);
  const std::string still(pool.bytes_of(held[0]));
  EXPECT_EQ(still, std::string(still.size(), 'A'));
  pool.give_back(held[0]);
  ASSERT_EQ(queue->poll(pool, out), 1u);
  EXPECT_EQ(pool.bytes_of(out[0]), frame_of(0, 60));
}

TEST_F(Replay, CutsWhatIsLongerThanABuffer) {
  TestPool pool(2);
  const auto queue = open_rx_queue(
      make_port("replay", {{"file", folder_.write("a", test::pcap_header() +
                                                           test::pcap_record(frame_of(1, 5000)))}}),
      0, pool, false);
  const Taken taken = take_all(*queue, pool, 1).at(0);
  EXPECT_TRUE(taken.packet.oversize);
  EXPECT_EQ(taken.bytes, frame_of(1, 5000).substr(0, kBufferStrideDefault - kBufferHeadroom));
  EXPECT_EQ(taken.packet.wire_length, 5000u);
}

TEST_F(Replay, SpreadsFlowsOverItsQueuesAndLosesNone) {
  const auto frame = [](std::uint32_t flow, std::uint32_t number) {
    std::string bytes(60, 0);
    bytes[12] = 8;
    bytes[14] = 0x45;
    bytes[17] = 46;
    bytes[23] = 17;
    bytes[29] = static_cast<char>(flow);
    bytes[33] = 9;
    bytes[39] = 26;
    bytes[50] = static_cast<char>(number);
    return bytes;
  };
  std::string file = test::pcap_header();
  for (std::uint32_t i = 0; i < 200; ++i) file += test::pcap_record(frame(i % 50, i));
  const PlanPort port =
      make_port("replay", {{"file", folder_.write("a", file)}, {"queues", "4"}, {"loop", "false"}});
  std::map<std::uint32_t, std::set<std::uint32_t>> queues_of_flow;
  std::set<std::string> seen;
  for (std::uint32_t queue = 0; queue < 4; ++queue) {
    TestPool pool(256);
    const auto rx = open_rx_queue(port, queue, pool, false);
    int last = -1;
    for (const Taken& taken : take_all(*rx, pool)) {
      const int number = static_cast<unsigned char>(taken.bytes[50]);
      EXPECT_GT(number, last);
      last = number;
      queues_of_flow[static_cast<unsigned char>(taken.bytes[29])].insert(queue);
      EXPECT_TRUE(seen.insert(taken.bytes).second);
    }
    EXPECT_GT(last, -1) << "queue " << queue << " has no flow";
  }
  EXPECT_EQ(seen.size(), 200u);
  for (const auto& [flow, queues] : queues_of_flow) EXPECT_EQ(queues.size(), 1u) << flow;
}

TEST_F(Replay, NeedsAsManyBuffersAsPackets) {
  TestPool pool(5);
  EXPECT_EQ(error_of([&] { open(5, {}, pool); }), "");
  EXPECT_NE(error_of([&] { open(8, {}, pool); })
                .find("8 packets for the 5 buffers of queue 0: say `buffers: 8` at the path that "
                      "has `from: [lan]`"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { open(6, {{"count", "4"}}, pool); }), "");
}

TEST_F(Replay, KeepsItsRateAndTellsWhenPacketsWereDue) {
  TestPool pool(16);
  const auto queue = open(4, {{"rate_mpps", "0.01"}}, pool);  // 100 us apart
  RxPacket out[4];
  ASSERT_EQ(queue->poll(pool, out), 1u);
  EXPECT_NE(out[0].time_tsc, 0u);
  const std::uint64_t wait = queue->next_ready_ns();
  EXPECT_LE(wait, 100'000u);
  std::uint64_t first = out[0].time_tsc, last = first;
  for (int i = 0; i < 10; ++i) {
    while (queue->poll(pool, std::span(out, 1)) == 0) {
    }
    EXPECT_GT(out[0].time_tsc, last);
    last = out[0].time_tsc;
    pool.give_back(out[0]);
  }
  EXPECT_EQ(queue->missed(), 0u);
}

TEST_F(Replay, SaysWhatIsWrongWithItsSettings) {
  const auto check = [](Settings settings) {
    return error_of([&] { check_port(make_port("replay", std::move(settings))); });
  };
  EXPECT_EQ(check({}), "port 'lan' (replay): needs 'file', the capture to replay");
  const std::string empty = folder_.write("empty", test::pcap_header());
  EXPECT_EQ(check({{"file", empty}}), "port 'lan' (replay): " + empty + ": holds no packet");
  const std::string good = folder_.write("good", test::pcap_of(1));
  EXPECT_EQ(check({{"file", good}}), "");
  EXPECT_EQ(check({{"file", good}, {"rate_mpps", "1001"}}),
            "port 'lan' (replay): rate_mpps is '1001'; allowed: 0..1000");
  EXPECT_EQ(check({{"file", good}, {"queues", "17"}}),
            "port 'lan' (replay): queues is '17'; allowed: 1..16");
}

TEST_F(Replay, CountsACaptureThatEndsBadly) {
  TestPool pool(16);
  const PlanPort port =
      make_port("replay", {{"file", folder_.write("a", test::pcap_of(3) + "tail")}});
  const auto queue = open_rx_queue(port, 0, pool, false);
  EXPECT_EQ(queue->errors(), 1u);
  EXPECT_EQ(queue->trouble().text(),
            folder_.path("a") + " ends in a record that is incomplete, behind 3 packets");
}

}  // namespace
}  // namespace millrace
