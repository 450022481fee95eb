// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/drop_cause.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(DropCause, TellsPolicyFromBrokenPacketsFromLoss) {
  EXPECT_EQ(cause_of(Reason::kRule), "policy");
  EXPECT_EQ(cause_of(Reason::kNoPath), "policy");
  EXPECT_EQ(cause_of(Reason::kMalformed), "packet");
  for (const Reason reason : {Reason::kWorkerLost, Reason::kEgressLost, Reason::kQuarantined,
                              Reason::kTxFull, Reason::kNoOutput, Reason::kOverload,
                              Reason::kUnavailable, static_cast<Reason>(kReasonCount - 1)}) {
    EXPECT_EQ(cause_of(reason), "loss") << static_cast<int>(reason);
  }
}

}  // namespace
}  // namespace millrace
