// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/null.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::make_port;
using test::TestPool;

TEST(NullPort, ReceivesNothingAndSwallowsAll) {
  TestPool pool(4);
  const auto rx = open_rx_queue(make_port("null", {}), 0, pool, false);
  RxPacket out[4];
  EXPECT_EQ(rx->poll(pool, out), 0u);
  EXPECT_TRUE(rx->exhausted());
  EXPECT_EQ(pool.free_count(), 4u);
  const auto tx = open_tx_queue(make_port("null", {}), 15, false);
  const TxPacket packets[3] = {};
  EXPECT_EQ(tx->send(packets), 3u);
  EXPECT_FALSE(tx->failed());
  EXPECT_FALSE(tx->holds_buffers());
}

TEST(NullPort, HasNoSettings) {
  EXPECT_EQ(test::error_of([] {
              check_port(make_port("null", {{"size", "1"}}));
            }),
            "port 'lan' (null): unknown setting 'size' allowed: nothing");
}

}  // namespace
}  // namespace millrace
