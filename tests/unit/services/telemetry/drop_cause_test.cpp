// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/drop_cause.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

TEST(DropCause, TellsPolicyFromBrokenPacketsFromLoss) {
  EXPECT_EQ(cause_of(Reason::kNoPath), ReasonCause::kPolicy);
  EXPECT_EQ(cause_of(Reason::kNoNeighbour), ReasonCause::kPolicy);
  EXPECT_EQ(cause_of(Reason::kMalformed), ReasonCause::kPacket);
  for (const Reason reason :
       {Reason::kWorkerLost, Reason::kEgressLost, Reason::kQuarantined, Reason::kTxFull,
        Reason::kNoOutput, Reason::kOverload, Reason::kUnavailable, Reason::kHoldFull,
        Reason::kSideFull, static_cast<Reason>(kReasonCount - 1)}) {
    EXPECT_EQ(cause_of(reason), ReasonCause::kLoss) << static_cast<int>(reason);
  }
}

TEST(DropCause, OfAFunctionsReasonIsWhatItDeclares) {
  const PlanReason reasons[] = {{"odd", ReasonCause::kPacket, ""}};
  EXPECT_EQ(cause_of(reasons, Reason{kCoreReasonCount}), ReasonCause::kPacket);
  EXPECT_EQ(cause_of(reasons, Reason{kCoreReasonCount + 1}), ReasonCause::kLoss);
  EXPECT_EQ(cause_of(reasons, Reason::kNoPath), ReasonCause::kPolicy);
  EXPECT_EQ(dropped_by(Reason{kCoreReasonCount}), "function");
}

TEST(DropCause, TellsWhoDropped) {
  EXPECT_EQ(dropped_by(Reason::kMalformed), "function");
  EXPECT_EQ(dropped_by(Reason::kUnavailable), "function");
  EXPECT_EQ(dropped_by(Reason::kNoPath), "ingress");
  EXPECT_EQ(dropped_by(Reason::kTxFull), "egress");
  EXPECT_EQ(dropped_by(Reason::kHoldFull), "egress");
  EXPECT_EQ(dropped_by(Reason::kOversize), "port") << "both sides have that one";
  EXPECT_EQ(dropped_by(Reason::kWorkerLost), "recovery");
}

TEST(DropCause, TellsWhatEndsAndWhatIsBornInOrder) {
  std::string consumed, generated;
  for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
    const std::string name = std::string(kReasonNames[i]) + " ";
    if (is_consumption(static_cast<Reason>(i))) consumed += name;
    if (is_generation(static_cast<Reason>(i))) generated += name;
  }
  EXPECT_EQ(consumed, "answered held fragmented control ");
  EXPECT_EQ(generated, "held copy fragment report reply solicit punt ");
}

}  // namespace
}  // namespace millrace
