// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/inflate_bill.hpp"

#include <gtest/gtest.h>

#include "services/functions/ids/work_budget.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kUnit = WorkShare::kInflatedBytesOfUnit;

TEST(InflateBill, UsualBodiesAndAFirstUnitAreFree) {
  WorkShare work;
  work.begin(1);
  InflateBill bill;
  InflatedBody usual{.bytes = kUnit, .inflated = kUnit * InflateBill::kFreeOfByte};
  EXPECT_TRUE(bill.pays(&work, usual));
  InflatedBody first{.bytes = 0, .inflated = kUnit};
  EXPECT_TRUE(bill.pays(&work, first));
  EXPECT_EQ(work.left(), 1u);
  first.inflated += 1;
  EXPECT_TRUE(bill.pays(&work, first));
  EXPECT_EQ(work.left(), 0u);
}

TEST(InflateBill, BehindABodyThatIsNotPaidForNoneIs) {
  WorkShare work;
  work.begin(0);
  InflateBill bill;
  InflatedBody bomb{.bytes = 1, .inflated = 3 * kUnit};
  EXPECT_FALSE(bill.pays(&work, bomb));
  EXPECT_TRUE(work.has_lost_body());
  InflatedBody next{.bytes = 1, .inflated = 1};
  EXPECT_FALSE(bill.pays(&work, next));
}

}  // namespace
}  // namespace millrace
