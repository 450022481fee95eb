// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/generate.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;
using test::take_all;
using test::Taken;
using test::TestPool;

std::unique_ptr<RxQueue> open(Settings settings, const TestPool& pool, std::uint32_t queue = 0) {
  return open_rx_queue(make_port("generate", std::move(settings)), queue, pool, false);
}

std::string check(Settings settings) {
  return error_of([&] { check_port(make_port("generate", std::move(settings))); });
}

TEST(Generate, GivesCountPacketsOfItsSizeThenEnds) {
  TestPool pool(64);
  const auto queue = open({{"count", "1000"}, {"size", "128"}}, pool);
  const std::vector<Taken> taken = take_all(*queue, pool);
  ASSERT_EQ(taken.size(), 1000u);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(taken[i].bytes.size(), 128u);
    EXPECT_EQ(taken[i].packet.ordinal, i);
    EXPECT_EQ(taken[i].packet.wire_length, 128u);
    EXPECT_EQ(taken[i].packet.offset, kBufferHeadroom);
  }
  EXPECT_TRUE(queue->exhausted());
  EXPECT_EQ(pool.free_count(), 64u);
}

TEST(Generate, TakesOnlyTheBuffersThatItHandsOut) {
  TestPool pool(10);
  const auto queue = open({{"count", "25"}}, pool);
  RxPacket out[32];
  EXPECT_EQ(queue->poll(pool, out), 10u);
  EXPECT_EQ(queue->poll(pool, out), 0u);
  EXPECT_FALSE(queue->exhausted());
  EXPECT_EQ(pool.free_count(), 0u);
}

TEST(Generate, IsTheSameForTheSameSeedAndQueueOnly) {
  TestPool pool(64);
  const auto first_packets = [&](const char* seed, std::uint32_t queue) {
    std::string bytes;
    for (const Taken& taken :
         take_all(*open({{"seed", seed}, {"queues", "2"}}, pool, queue), pool, 50)) {
      bytes += taken.bytes;
    }
    return bytes;
  };
  EXPECT_EQ(first_packets("1", 0), first_packets("1", 0));
  EXPECT_NE(first_packets("1", 0), first_packets("2", 0));
  EXPECT_NE(first_packets("1", 0), first_packets("1", 1));
}

TEST(Generate, GoesOnExactlyAfterARestart) {
  TestPool pool(64);
  const Settings settings{{"size", "60"}, {"size", "200"}, {"size", "1514"}, {"flows", "7"}};
  const std::vector<Taken> whole = take_all(*open(settings, pool), pool, 300);
  for (std::uint32_t first = 0; first < 200; first += 13) {
    const auto queue = open(settings, pool);
    queue->resume(first);
    const std::vector<Taken> taken = take_all(*queue, pool, 100);
    for (std::uint32_t i = 0; i < 100; ++i) {
      ASSERT_EQ(taken[i].bytes, whole[first + i].bytes);
      ASSERT_EQ(taken[i].packet.ordinal, first + i);
    }
  }
}

TEST(Generate, SynsAreOfTheSmallestSizeIfNothingIsSaid) {
  TestPool pool(64);
  for (const Taken& taken : take_all(*open({{"syn", "true"}}, pool), pool, 50)) {
    EXPECT_EQ(taken.bytes.size(), 60u);
    EXPECT_EQ(taken.bytes[47], 2) << "SYN";
  }
}

TEST(Generate, UsesAllOfItsSizes) {
  TestPool pool(64);
  std::map<std::size_t, int> seen;
  const auto queue = open({{"size", "60"}, {"size", "590"}, {"size", "1514"}}, pool);
  for (const Taken& taken : take_all(*queue, pool, 3000)) ++seen[taken.bytes.size()];
  EXPECT_EQ(seen.size(), 3u);
  for (const auto& [size, count] : seen) EXPECT_NEAR(count, 1000, 150) << size;
}

TEST(Generate, MarksPacketsOfARateWithTheTimeTheyWereDue) {
  TestPool pool(64);
  const auto queue = open({{"rate_mpps", "1"}}, pool);
  RxPacket out[32];
  std::uint64_t last = 0;
  for (int seen = 0; seen < 100;) {
    const std::uint32_t count = queue->poll(pool, out);
    for (std::uint32_t i = 0; i < count; ++i, ++seen) {
      EXPECT_GT(out[i].time_tsc, last);
      last = out[i].time_tsc;
      pool.give_back(out[i]);
    }
  }
}

TEST(Generate, CountsWhatNobodyTookInTime) {
  TestPool pool(1);
  const auto queue = open({{"rate_mpps", "1000"}}, pool);
  RxPacket out[1];
  ASSERT_EQ(queue->poll(pool, out), 1u);
  while (queue->missed() == 0) queue->poll(pool, out);
  EXPECT_EQ(pool.free_count(), 0u);
}

TEST(Generate, SaysWhatIsWrongWithItsSettings) {
  EXPECT_EQ(check({}), "");
  EXPECT_EQ(check({{"size", "59"}}), "port 'lan' (generate): size is '59'; allowed: 60..9000");
  EXPECT_EQ(check({{"size", "81"}, {"numbered", "true"}}),
            "port 'lan' (generate): size is '81'; allowed: 82..9000");
  EXPECT_EQ(check({{"flows", "0"}}), "port 'lan' (generate): flows is '0'; allowed: 1..1000000");
  EXPECT_EQ(check({{"sources", "0"}}), "port 'lan' (generate): sources is '0'; allowed: 1..131072");
  EXPECT_EQ(check({{"sources", "1"}, {"flows", "64512"}}), "");
  EXPECT_EQ(check({{"sources", "1"}, {"flows", "64513"}}),
            "port 'lan' (generate): flows is '64513'; allowed: 1..64512 of so many sources");
  EXPECT_EQ(check({{"syn", "true"}, {"sources", "1"}, {"numbered", "false"}}), "");
  EXPECT_EQ(check({{"syn", "true"}, {"flows", "7"}}),
            "port 'lan' (generate): flows is '7'; allowed: none with syn, whose ports are random");
  EXPECT_EQ(check({{"syn", "true"}, {"numbered", "true"}}),
            "port 'lan' (generate): numbered is 'true'; allowed: false with syn");
  for (const char* bad : {"10.0.0.0/33", "10.0.0/8", "10.0.0.1/8", "::/0", "10.0.0.0/8x", ""}) {
    EXPECT_NE(check({{"destinations", bad}}), "") << bad;
  }
  for (const char* good : {"0.0.0.0/0", "192.0.2.1", "192.0.2.1/32", "10.0.0.0/8"}) {
    EXPECT_EQ(check({{"destinations", good}}), "") << good;
  }
  PlanPort port = make_port("generate", {});
  port.mac = "02:00:00:00:00";
  EXPECT_EQ(error_of([&] { check_port(port); }),
            "port 'lan' (generate): mac is '02:00:00:00:00'; allowed: an address like "
            "02:00:00:00:00:01");
  EXPECT_NE(check({{"size", "64"}, {"size", "9001"}}), "");
  EXPECT_NE(check(Settings(17, {"size", "64"})), "");
  EXPECT_NE(check(Settings(257, {"destinations", "10.0.0.0/8"})), "");
}

TEST(Generate, RefusesSizesThatNoBufferHolds) {
  const TestPool pool(4);
  EXPECT_EQ(error_of([&] {
              open({{"size", "2049"}}, pool);
            }),
            "port 'lan' (generate), receive queue 0: size is '2049'; a buffer holds 2048 bytes: "
            "raise the port's mtu");
}

}  // namespace
}  // namespace millrace
