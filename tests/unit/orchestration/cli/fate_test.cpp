// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/fate.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Fate, HasOneNameEach) {
  EXPECT_EQ(fate_name(Verdict::kPass), "pass");
  EXPECT_EQ(fate_name(Verdict::kDrop), "drop");
  EXPECT_EQ(fate_name(Verdict::kDone), "done");
  EXPECT_EQ(fate_name(Verdict::kConsumed), "consumed");
}

TEST(Fate, IsToldWithItsReasonUnlessThePacketIsItself) {
  EXPECT_EQ(fate_text({}, Verdict::kPass, Reason::kNone), "");
  EXPECT_EQ(fate_text({}, Verdict::kPass, Reason::kOverload), "") << "the column was not written";
  EXPECT_EQ(fate_text({}, Verdict::kDone, Reason::kNone), "") << "it leaves as itself";
  EXPECT_EQ(fate_text({}, Verdict::kDone, Reason::kReply), "answer: reply");
  EXPECT_EQ(fate_text({}, Verdict::kDrop, Reason::kOverload), "dropped: overload");
  EXPECT_EQ(fate_text({}, Verdict::kConsumed, Reason::kHeld), "consumed: held");
}

TEST(Fate, OfAReasonThatAFunctionDeclaresHasItsName) {
  const PlanReason reasons[] = {{.name = "odd"}};
  EXPECT_EQ(fate_text(reasons, Verdict::kDrop, Reason{kCoreReasonCount}), "dropped: odd");
}

TEST(Fate, OfAReasonWithoutANameIsToldAllTheSame) {
  constexpr auto kUnnamed = static_cast<Reason>(kReasonCount - 1);
  EXPECT_EQ(fate_text({}, Verdict::kDrop, kUnnamed), "dropped: ?");
}

}  // namespace
}  // namespace millrace
