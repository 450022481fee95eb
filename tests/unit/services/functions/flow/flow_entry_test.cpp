// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_entry.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace millrace
