// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "io-worker/ports/pcap.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/libpcap_oracle.hpp"
#include "tests/unit/io-worker/ports/pcapng_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::frame_of;
using test::make_port;
using test::take_all;
using test::Taken;
using test::TestFolder;
using test::TestPool;

std::unique_ptr<RxQueue> open(const std::string& path, const TestPool& pool) {
  return open_rx_queue(make_port("pcap", {{"in", path}}), 0, pool, false);
}

TEST(PcapRx, GivesEveryRecordInOrderWithItsNumber) {
  const TestFolder folder;
  const std::string path = folder.write("a", test::pcap_of(1000));
  const auto oracle = test::read_with_libpcap(path).packets;
  ASSERT_EQ(oracle.size(), 1000u);
  for (const std::size_t burst : {1u, 32u, 256u}) {
    TestPool pool(64);
    const auto queue = open(path, pool);
    const std::vector<Taken> taken = take_all(*queue, pool, SIZE_MAX, burst);
    ASSERT_EQ(taken.size(), oracle.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i].bytes, oracle[i].bytes);
      EXPECT_EQ(taken[i].packet.wire_length, oracle[i].wire_length);
      EXPECT_EQ(taken[i].packet.ordinal, i);
      EXPECT_EQ(taken[i].packet.offset, kBufferHeadroom);
      EXPECT_FALSE(taken[i].packet.oversize);
    }
    EXPECT_TRUE(queue->exhausted());
    EXPECT_EQ(queue->errors(), 0u);
    EXPECT_EQ(pool.free_count(), 64u);
  }
}

TEST(PcapRx, LosesNothingWhenThePoolRunsDry) {
  const TestFolder folder;
  TestPool pool(3);
  const auto queue = open(folder.write("a", test::pcap_of(8)), pool);
  RxPacket out[8];
  std::vector<std::string> seen;
  while (!queue->exhausted()) {
    const std::uint32_t count = queue->poll(pool, out);
    EXPECT_LE(count, 3u);
    for (std::uint32_t i = 0; i < count; ++i) {
      seen.push_back(pool.bytes_of(out[i]));
      EXPECT_EQ(out[i].ordinal, seen.size() - 1);
    }
    if (pool.free_count() == 0) {
      RxPacket more[1];
      EXPECT_EQ(queue->poll(pool, more), 0u);
    }
    for (std::uint32_t i = 0; i < count; ++i) pool.give_back(out[i]);
  }
  ASSERT_EQ(seen.size(), 8u);
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(seen[i], frame_of(i, 60 + i));
}

TEST(PcapRx, CutsWhatIsLongerThanABufferAndSaysSo) {
  const TestFolder folder;
  TestPool pool(4);
  const std::uint32_t room = kBufferStrideDefault - kBufferHeadroom;
  const auto queue =
      open(folder.write("a", test::pcap_header() + test::pcap_record(frame_of(1, room)) +
                                 test::pcap_record(frame_of(2, room + 1), {}, 9000) +
                                 test::pcap_record("")),
           pool);
  const std::vector<Taken> taken = take_all(*queue, pool);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_FALSE(taken[0].packet.oversize);
  EXPECT_EQ(taken[0].packet.length, room);
  EXPECT_TRUE(taken[1].packet.oversize);
  EXPECT_EQ(taken[1].bytes, frame_of(2, room + 1).substr(0, room));
  EXPECT_EQ(taken[1].packet.wire_length, 9000u);
  EXPECT_EQ(taken[2].packet.length, 0u);
}

TEST(PcapRx, NeverTellsFewerBytesOnTheWireThanInTheFile) {
  const TestFolder folder;
  TestPool pool(4);
  const auto queue = open(
      folder.write("a", test::pcap_header() + test::pcap_record(frame_of(1, 60), {}, 10)), pool);
  EXPECT_EQ(take_all(*queue, pool).at(0).packet.wire_length, 60u);
}

TEST(PcapRx, CountsAFileThatEndsBadly) {
  const TestFolder folder;
  const std::string good = test::pcap_of(3);
  const std::string corrupt = test::word32(0) + test::word32(0) + test::word32(300'000);
  for (const std::string& tail : {std::string("half"), corrupt + test::word32(9)}) {
    TestPool pool(8);
    const auto queue = open(folder.write("a", good + tail), pool);
    EXPECT_EQ(take_all(*queue, pool).size(), 3u);
    EXPECT_TRUE(queue->exhausted());
    EXPECT_EQ(queue->errors(), 1u);
    EXPECT_TRUE(queue->trouble().text().starts_with(folder.path("a"))) << queue->trouble().text();
  }
}

TEST(PcapRx, StepsOverWhatIsNotEthernetAndSaysSo) {
  const TestFolder folder;
  TestPool pool(8);
  const std::string file = test::section() + test::interface(101) + test::interface() +
                           test::enhanced(frame_of(0, 60), 1) + test::enhanced("raw", 0) +
                           test::enhanced(frame_of(1, 61), 1);
  const auto queue = open(folder.write("a", file), pool);
  const std::vector<Taken> taken = take_all(*queue, pool);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1].bytes, frame_of(1, 61));
  EXPECT_EQ(taken[1].packet.ordinal, 1u);
  EXPECT_TRUE(queue->exhausted());
  EXPECT_EQ(queue->errors(), 1u);
  EXPECT_TRUE(queue->trouble().text().ends_with("link type 101")) << queue->trouble().text();
}

TEST(PcapRx, GoesOnAtAnyRecordAfterARestart) {
  const TestFolder folder;
  const std::string path = folder.write("a", test::pcap_of(50));
  TestPool pool(64);
  for (std::uint32_t first = 0; first <= 51; ++first) {
    const auto queue = open(path, pool);
    queue->resume(first);
    const std::vector<Taken> taken = take_all(*queue, pool);
    ASSERT_EQ(taken.size(), first < 50 ? 50 - first : 0u);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i].packet.ordinal, first + i);
      EXPECT_EQ(taken[i].bytes, frame_of(first + i, 60 + first + i));
    }
    EXPECT_TRUE(queue->exhausted());
  }
}

}  // namespace
}  // namespace millrace
