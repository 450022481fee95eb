// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/plan_reasons.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr DeclaredReason kOne[] = {{"odd", ReasonCause::kPacket, "first"},
                                   {"no_path", ReasonCause::kLoss, "one of the core"},
                                   {"shut", ReasonCause::kPolicy, ""}};
constexpr DeclaredReason kOther[] = {{"shut", ReasonCause::kPolicy, "later"},
                                     {"late", ReasonCause::kLoss, ""}};

std::vector<PlanReason> both() {
  std::vector<PlanReason> all;
  number_reasons(all, kOne);
  number_reasons(all, kOther);
  return all;
}

TEST(PlanReasons, HaveOneNumberForEachNameAndThatOfTheCoreForItsNames) {
  const std::vector<PlanReason> all = both();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(reason_numbers(all, kOne), ElementsAre(kCoreReasonCount, 19, kCoreReasonCount + 1));
  EXPECT_THAT(reason_numbers(all, kOther), ElementsAre(kCoreReasonCount + 1, kCoreReasonCount + 2));
  EXPECT_EQ(static_cast<int>(Reason::kNoPath), 19);
  EXPECT_EQ(declared_reason(all, kCoreReasonCount)->cause, ReasonCause::kPacket);
  EXPECT_EQ(declared_reason(all, kCoreReasonCount + 1)->summary, "") << "who is first says it";
  EXPECT_EQ(declared_reason(all, kCoreReasonCount + 3), nullptr);
  EXPECT_EQ(declared_reason(all, 19), nullptr);
}

TEST(PlanReasons, AreNamedByTheCoreAndByThePlan) {
  const std::vector<PlanReason> all = both();
  EXPECT_EQ(reason_name(all, 0), "none");
  EXPECT_EQ(reason_name(all, 19), "no_path");
  EXPECT_EQ(reason_name(all, static_cast<std::size_t>(Reason::kCount)), "");
  EXPECT_EQ(reason_text(all, static_cast<std::size_t>(Reason::kCount)), "?");
  EXPECT_EQ(reason_text(all, kCoreReasonCount + 2), "late");
  EXPECT_EQ(reason_text(all, kReasonCount - 1), "?");
  EXPECT_EQ(reason_text({}, kCoreReasonCount), "?");
}

TEST(PlanReasons, OfANewerBuildThatThePlanDoesNotKnowAreRefused) {
  std::vector<PlanReason> all;
  number_reasons(all, kOne);
  try {
    reason_numbers(all, kOther);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("drop reason 'late' has no number in the plan"));
  }
  EXPECT_EQ(reason_number(all, ""), kReasonCount);
}

TEST(PlanReasons, HaveACauseWithAName) {
  EXPECT_EQ(cause_name(ReasonCause::kPolicy), "policy");
  EXPECT_EQ(cause_name(ReasonCause::kPacket), "packet");
  EXPECT_EQ(cause_name(ReasonCause::kLoss), "loss");
}

}  // namespace
}  // namespace millrace
