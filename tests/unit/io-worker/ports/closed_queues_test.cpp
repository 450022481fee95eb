// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/closed_queues.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "shared/base/error.hpp"
#include "shared/base/patience.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using test::frame_of;
using test::take_all;
using test::TestPool;

constexpr ReopenPauses kShort{milliseconds(1), milliseconds(4)};

bool comes_true(const std::function<bool()>& condition) {
  Patience patience(std::chrono::seconds(60));
  while (!condition() && !patience.is_over()) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

PlanPort port_of(const std::string& direction, const std::string& path) {
  return test::make_port("pcap", {{direction, path}});
}

TEST(ClosedQueues, AReadingOneGoesOnWhereItShouldOnceItsFileIsThere) {
  const test::TestFolder folder;
  TestPool pool(8);
  const std::string path = folder.path("file");
  std::atomic<int> tries{0};
  const auto open = [&] {
    ++tries;
    return open_rx_queue(port_of("in", path), 0, pool, false);
  };
  const auto queue = closed_rx("it is away", open, kShort);
  queue->resume(1);
  EXPECT_TRUE(take_all(*queue, pool).empty());
  EXPECT_EQ(tries, 0) << "not before the process has given up its rights";
  queue->roster_moved();
  ASSERT_TRUE(comes_true([&] { return tries > 3; }));
  EXPECT_TRUE(queue->exhausted());
  EXPECT_EQ(queue->errors(), 1u);
  EXPECT_FALSE(queue->has_recovered());
  EXPECT_TRUE(queue->trouble().text().starts_with("it is away; not read until it opens"));
  const std::string frame = frame_of(1, 60);
  const std::array packets{TxPacket{.bytes = std::as_bytes(std::span(frame)), .wire_length = 60},
                           TxPacket{.bytes = std::as_bytes(std::span(frame)), .wire_length = 60}};
  ASSERT_EQ(open_tx_queue(port_of("out", folder.path("draft")), 0, false)->send(packets), 2u);
  std::filesystem::rename(folder.path("draft"), path);
  ASSERT_TRUE(comes_true([&] { return !queue->exhausted(); }));
  EXPECT_TRUE(queue->has_recovered());
  EXPECT_FALSE(queue->has_recovered()) << "told once";
  EXPECT_EQ(take_all(*queue, pool).size(), 1u) << "the life before has handed on the first one";
  EXPECT_TRUE(queue->exhausted());
  EXPECT_EQ(queue->errors(), 1u);
}

TEST(ClosedQueues, AWritingOneTakesPacketsOnceItsFolderIsThere) {
  const test::TestFolder folder;
  const std::string path = folder.path("away/file");
  const auto queue = closed_tx(
      "it is away", [&] { return open_tx_queue(port_of("out", path), 0, false); }, kShort);
  const std::string frame = frame_of(1, 60);
  const std::array packets{TxPacket{.bytes = std::as_bytes(std::span(frame)), .wire_length = 60}};
  queue->roster_moved();
  EXPECT_TRUE(queue->failed());
  EXPECT_FALSE(queue->waits_when_full()) << "or the egress would wait for it";
  EXPECT_FALSE(queue->reads_batches());
  EXPECT_EQ(queue->send(packets), 0u);
  std::filesystem::create_directory(folder.path("away"));
  ASSERT_TRUE(comes_true([&] { return !queue->failed(); }));
  EXPECT_TRUE(queue->waits_when_full() && queue->reads_batches());
  EXPECT_EQ(queue->send(packets), 1u);
  EXPECT_TRUE(queue->trouble().empty());
}

TEST(ClosedQueues, OneThatNeverOpensEndsAtOnce) {
  ReopenPauses long_ones{std::chrono::hours(1), std::chrono::hours(1)};
  const auto queue = closed_tx(
      "away", []() -> std::unique_ptr<TxQueue> { throw Error("away"); }, long_ones);
  queue->roster_moved();
  queue->roster_moved();
  EXPECT_TRUE(queue->failed());
}

}  // namespace
}  // namespace millrace
