// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match_verdicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

constexpr std::array<std::uint8_t, 1> kReasonNumbers = {40};

/// What the rules of `text` do to a packet with result word `word`, and what they count.
struct Applied {
  Applied(const std::string& text, std::uint32_t word) {
    const MatchFolder folder;
    const PlanFunction plan = folder.plan(text, {"odd"}, 1);
    const BuildReport report =
        build_match_image({.function = plan, .ports = {}}, MatchPlaces::kOne, kMatchExtraCount);
    hits.resize(report.counter_count);
    const MatchImage image(plan.image);
    const std::vector<Frame> frames = {FrameBuilder().ipv4(17, 8).udp(0).build()};
    const Batch batch = batch_of(arena, frames);
    const BatchFacts facts;
    const std::vector<std::uint16_t> all = {0};
    const MatchVerdicts verdicts(image, false);
    verdicts.apply({.batch = batch,
                    .selected = {all},
                    .results = {},
                    .counters = {hits},
                    .state = {},
                    .facts = facts,
                    .reason_numbers = kReasonNumbers},
                   0, word);
    dropped = batch.is_dropped(0);
    classes = batch.classes[0];
    may_drop = verdicts.may_drop();
  }
  BatchArena arena;
  std::vector<std::uint64_t> hits;
  bool dropped = false, may_drop = false;
  std::uint32_t classes = 0;
};

constexpr char kRules[] = "alert \"c\"\nclass odd \"b\"\ndrop \"a\"\n";

TEST(MatchVerdicts, TheRuleOfTheWordActs) {
  const Applied drop(kRules, 1), classed(kRules, 2), alert(kRules, 3), none(kRules, 0);
  EXPECT_TRUE(drop.dropped);
  EXPECT_EQ(drop.hits, (std::vector<std::uint64_t>{1, 0, 0, 0, 0}));
  EXPECT_FALSE(classed.dropped);
  EXPECT_EQ(classed.classes, 1u);
  EXPECT_EQ(alert.hits, (std::vector<std::uint64_t>{0, 0, 1, 0, 0}));
  EXPECT_EQ(none.hits, (std::vector<std::uint64_t>(5)));
}

TEST(MatchVerdicts, AWordThatNamesNoRuleIsCounted) {
  const Applied wrong(kRules, 77);
  EXPECT_FALSE(wrong.dropped);
  EXPECT_EQ(wrong.hits, (std::vector<std::uint64_t>{0, 0, 0, 1, 0}));
}

TEST(MatchVerdicts, AHiddenPayloadIsDroppedWhereARuleDrops) {
  EXPECT_TRUE(Applied(kRules, kMatchHidden).dropped);
  const Applied alerts("alert \"c\"\n", kMatchHidden);
  EXPECT_FALSE(alerts.dropped || alerts.may_drop);
  EXPECT_EQ(alerts.hits, (std::vector<std::uint64_t>{0, 0, 1}));
}

TEST(MatchVerdicts, EventsIsAFlag) {
  PlanFunction function;
  EXPECT_FALSE(match_tells(function));
  function.settings = {{"events", "true"}};
  EXPECT_TRUE(match_tells(function));
  function.settings = {{"events", "yes"}};
  EXPECT_EQ(test::error_of([&] { match_tells(function); }),
            "events: 'yes' is no flag; there are: true, false");
}

}  // namespace
}  // namespace millrace
