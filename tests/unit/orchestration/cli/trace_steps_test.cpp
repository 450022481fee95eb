// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/trace_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kTraceTime = 1'700'000'000'000'000'000;

class TraceSteps : public testing::Test {
 protected:
  /// Adds a step that ended `until_us` after the packet's arrival.
  std::optional<TracedPacket> add(TraceKind kind, std::uint32_t number, std::uint64_t since_us,
                                  std::uint64_t until_us, Verdict verdict = Verdict::kPass,
                                  Reason why = Reason::kOverload, std::uint8_t port_after = 0) {
    const TraceStep step{.id = 7,
                         .number = number,
                         .sequence = 42,
                         .result = 0x2a,
                         .classes = 0,
                         .actor = 2,
                         .stream = 0,
                         .lane = 3,
                         .packet = 5,
                         .kind = kind,
                         .took_part = 1,
                         .port_after = port_after};
    const WatchRecord record{
        .point = kStepPoint,
        .verdict = static_cast<std::uint8_t>(verdict),
        .reason = static_cast<std::uint8_t>(verdict == Verdict::kPass ? Reason::kNone : why),
        .wire_length = 60};
    return gatherer_.add(
        {&record, std::as_bytes(std::span(&step, 1)), kTraceTime + until_us * 1000},
        kTraceTime + since_us * 1000);
  }
  Plan plan_ = plan_of_text(kTwoPaths);
  TraceGatherer gatherer_;
};

TEST_F(TraceSteps, APacketIsWholeWhenItIsReleased) {
  EXPECT_FALSE(add(TraceKind::kReceived, 0, 0, 2));
  EXPECT_FALSE(add(TraceKind::kFunction, 1, 3, 5));
  EXPECT_EQ(gatherer_.open(), 1U);
  const auto packet = add(TraceKind::kReleased, 1, 9, 9);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->steps.size(), 3U);
  EXPECT_EQ(gatherer_.open(), 0U);
  const auto json = trace_json(plan_, *packet, 1);
  EXPECT_EQ(json["us"], 9.0);
  EXPECT_EQ(json["lane"], 3);
  EXPECT_EQ(json["verdict"], "pass");
  EXPECT_EQ(json["steps"][1]["name"], "second");
  EXPECT_EQ(json["steps"][1]["result"], 42);
  EXPECT_EQ(json["steps"][1]["from_us"], 3.0);
  EXPECT_EQ(json["steps"][1]["us"], 2.0);
  EXPECT_EQ(json["steps"][2]["name"], "b");
  const std::string text = trace_text(plan_, *packet, 1, false);
  EXPECT_THAT(text, HasSubstr("packet 1: 60 bytes, 2023-11-14T22:13:20.000000Z, lane 3, batch 42"));
  EXPECT_THAT(text, HasSubstr("second: result 0x2a, passes\n"));
  EXPECT_THAT(text, HasSubstr("transmitted on b\n         9.000 in all\n"));
}

TEST_F(TraceSteps, StepsThatCameLateAreInTheirPlace) {
  add(TraceKind::kReceived, 0, 0, 1);
  add(TraceKind::kTaken, 0, 5, 5);
  add(TraceKind::kSent, 0, 3, 3);
  const auto packet = add(TraceKind::kReleased, 0, 9, 9);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->steps[1].step.kind, TraceKind::kSent);
}

TEST_F(TraceSteps, ADroppedPacketSaysWhy) {
  add(TraceKind::kReceived, 0, 0, 1);
  const auto packet = add(TraceKind::kReleased, 0, 2, 2, Verdict::kDrop);
  ASSERT_TRUE(packet);
  EXPECT_EQ(trace_json(plan_, *packet, 1)["reason"], "overload");
  EXPECT_THAT(trace_text(plan_, *packet, 1, true), HasSubstr("\033[31mdropped: overload\033[0m"));
}

TEST_F(TraceSteps, AnAnswerSaysWhatItIsAndByWhichPortItLeaves) {
  add(TraceKind::kReceived, 0, 0, 1);
  add(TraceKind::kFunction, 1, 1, 2, Verdict::kDone, Reason::kReply, 1 + 1);
  const auto packet = add(TraceKind::kReleased, 1, 3, 3, Verdict::kDone, Reason::kReply, 1 + 1);
  ASSERT_TRUE(packet);
  const auto json = trace_json(plan_, *packet, 1);
  EXPECT_EQ(json["verdict"], "done");
  EXPECT_EQ(json["reason"], "reply");
  EXPECT_EQ(json["steps"][1]["verdict"], "done");
  EXPECT_EQ(json["steps"][1]["reason"], "reply");
  EXPECT_EQ(json["steps"][1]["output"], "b");
  const std::string text = trace_text(plan_, *packet, 1, true);
  EXPECT_THAT(text, HasSubstr("second: result 0x2a, answer: reply, leaves by b\n"));
  EXPECT_THAT(text, HasSubstr("transmitted on b, answer: reply\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("\033["))) << "nothing was dropped";
}

TEST_F(TraceSteps, APacketThatIsDoneLeavesAsItself) {
  add(TraceKind::kReceived, 0, 0, 1);
  add(TraceKind::kFunction, 0, 1, 2, Verdict::kDone, Reason::kNone);
  const auto packet = add(TraceKind::kReleased, 1, 3, 3, Verdict::kDone, Reason::kNone, 2);
  ASSERT_TRUE(packet);
  const auto json = trace_json(plan_, *packet, 1);
  EXPECT_EQ(json["verdict"], "done");
  EXPECT_FALSE(json.contains("reason"));
  EXPECT_FALSE(json["steps"][1].contains("output")) << "the default of its path";
  const std::string text = trace_text(plan_, *packet, 1, false);
  EXPECT_THAT(text, HasSubstr("leaves by the output of its path\n"));
  EXPECT_THAT(text, HasSubstr("transmitted on b\n"));
}

TEST_F(TraceSteps, AConsumedPacketSaysWhatFor) {
  add(TraceKind::kReceived, 0, 0, 1);
  const auto packet = add(TraceKind::kReleased, 0, 2, 2, Verdict::kConsumed, Reason::kHeld);
  ASSERT_TRUE(packet);
  const auto json = trace_json(plan_, *packet, 1);
  EXPECT_EQ(json["verdict"], "consumed");
  EXPECT_EQ(json["reason"], "held");
  EXPECT_THAT(trace_text(plan_, *packet, 1, true), HasSubstr("  consumed: held\n"));
}

TEST_F(TraceSteps, StepsWithoutABeginAreLeftOut) {
  EXPECT_FALSE(add(TraceKind::kFunction, 0, 0, 1));
  EXPECT_FALSE(add(TraceKind::kReleased, 0, 2, 2));
  EXPECT_EQ(gatherer_.open(), 0U);
}

TEST_F(TraceSteps, NumbersThatThePlanDoesNotHaveAreNoHarm) {
  add(TraceKind::kReceived, 999, 0, 1);
  add(TraceKind::kSent, 999, 0, 1);
  add(TraceKind::kFunction, 999, 0, 1);
  const auto packet = add(TraceKind::kReleased, kNoNumber, 2, 2);
  ASSERT_TRUE(packet);
  EXPECT_THAT(trace_text(plan_, *packet, 1, false), HasSubstr("transmitted on ?"));
}

}  // namespace
}  // namespace millrace::test
