// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/rate.hpp"

#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

TEST(Rate, IsANumberUpToAMillion) {
  EXPECT_EQ(parse_rate("icmp_rate", "0"), 0u);
  EXPECT_EQ(parse_rate("icmp_rate", "25"), 25u);
  EXPECT_EQ(parse_rate("icmp_rate", "1000000"), 1'000'000u);
}

TEST(Rate, WhatIsNoneIsRefusedWithTheKey) {
  for (const char* const bad : {"", "-1", "1k", " 1", "1 ", "0x10", "1000001", "99999999999"}) {
    EXPECT_EQ(test::error_of([&] { parse_rate("reject_rate", bad); }),
              std::string("reject_rate: '") + bad + "' is no rate; expected 0 to 1000000 a second");
  }
}

}  // namespace
}  // namespace millrace
