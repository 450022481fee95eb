// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/loop.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;

TEST(LoopPort, HasTheQueuesThatItSays) {
  EXPECT_EQ(port_queues(make_port("loop", {})).receive, 1u);
  const PortQueues queues = port_queues(make_port("loop", {{"queues", "3"}, {"depth", "64"}}));
  EXPECT_EQ(queues.receive, 3u);
  EXPECT_EQ(queues.send, kPortQueueCountMax);
}

TEST(LoopPort, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(error_of([] {
              check_port(make_port("loop", {{"depth", "63"}}));
            }),
            "port 'lan' (loop): depth is '63'; allowed: 64..65536");
  EXPECT_EQ(error_of([] {
              check_port(make_port("loop", {{"queue", "1"}}));
            }),
            "port 'lan' (loop): unknown setting 'queue', did you mean 'queues'? allowed: depth, "
            "queues, tick");
  EXPECT_EQ(error_of([] {
              check_port(make_port("loop", {{"tick", "1"}}));
            }),
            "port 'lan' (loop): tick is '1'; allowed: a time from 100ms to 3600s, like 500ms or "
            "1s");
}

}  // namespace
}  // namespace millrace
