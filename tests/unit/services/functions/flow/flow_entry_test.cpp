// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_entry.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace {
namespace {

TEST(Count48, CountsTo48Bits) {
  Count48 count{};
  count.add(5);
  count.add((1ull << 47) - 3);
  EXPECT_EQ(count.value(), (1ull << 47) + 2);
  count.add((1ull << 47) - 2);
  EXPECT_EQ(count.value(), 0u);
}

TEST(FlowEntry, HasATupleForEachDirection) {
  FlowEntry entry{};
  entry.tuple.source_port = 1;
  entry.answer.source_port = 2;
  EXPECT_EQ(entry.tuple_of(0).source_port, 1);
  EXPECT_EQ(entry.tuple_of(1).source_port, 2);
}

TEST(FlowTraffic, CountsAPacketAsItsCountsDo) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 1000; ++round) {
    FlowTraffic traffic{}, wanted{};
    // Also where a count begins anew.
    const std::uint64_t near_end = (std::uint64_t{1} << 48) - 2;
    const std::uint64_t packets = round % 3 == 0 ? near_end : random() >> (16 + random() % 48);
    const std::uint64_t bytes = round % 4 == 0 ? near_end : random() >> (16 + random() % 48);
    traffic.packets.add(packets), wanted.packets.add(packets);
    traffic.bytes.add(bytes), wanted.bytes.add(bytes);
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t more = random() % 65536;
      traffic.add(more);
      wanted.packets.add(1), wanted.bytes.add(more);
      ASSERT_EQ(traffic.packets.value(), wanted.packets.value());
      ASSERT_EQ(traffic.bytes.value(), wanted.bytes.value());
    }
  }
}

}  // namespace
}  // namespace millrace
