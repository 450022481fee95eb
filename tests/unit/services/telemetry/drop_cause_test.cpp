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

TEST(DropCause, TellsWhoDropped) {
  EXPECT_EQ(dropped_by(Reason::kRule), "function");
  EXPECT_EQ(dropped_by(Reason::kUnavailable), "function");
  EXPECT_EQ(dropped_by(Reason::kNoPath), "ingress");
  EXPECT_EQ(dropped_by(Reason::kTxFull), "egress");
  EXPECT_EQ(dropped_by(Reason::kOversize), "port") << "both sides have that one";
  EXPECT_EQ(dropped_by(Reason::kWorkerLost), "recovery");
}

}  // namespace
}  // namespace millrace
