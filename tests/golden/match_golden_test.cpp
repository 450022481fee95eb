// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/golden/golden_table.hpp"

namespace millrace {
namespace {

TEST(MatchGolden, EveryKindOfPacketEndsAsTheTableSays) {
  GoldenRun(read_golden("match.golden"), "match").expect_all();
}

}  // namespace
}  // namespace millrace
