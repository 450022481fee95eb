// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"

namespace millrace {
namespace {

MatchRule rule_of(MatchAction action, const std::string& literal, const std::string& name) {
  MatchRule rule;
  rule.action = action;
  rule.literal = literal;
  rule.name = name;
  return rule;
}

TEST(MatchImage, HoldsTheRulesByStrengthThenInTheirOrder) {
  const MatchFolder folder;
  MatchRule classed = rule_of(MatchAction::kClass, "c", "third");
  classed.class_mask = 8;
  MatchRule with_port = rule_of(MatchAction::kDrop, "d", "second");
  with_port.port = 53;
  with_port.protocol = 17;
  const auto refusals =
      write_match_image(folder.path("i"), {rule_of(MatchAction::kAlert, "aa", "fourth"),
                                           rule_of(MatchAction::kDrop, "b", "first"), classed,
                                           with_port, rule_of(MatchAction::kAlert, "e", "fifth")});
  EXPECT_TRUE(refusals.empty());
  const MatchImage image(folder.path("i"));
  ASSERT_EQ(image.rules().size(), 5u);
  const std::vector<std::string> names = {"first", "second", "third", "fourth", "fifth"};
  for (std::uint32_t rule = 0; rule < names.size(); ++rule)
    EXPECT_EQ(image.name(rule), names[rule]);
  EXPECT_EQ(image.rules()[1].port, 53);
  EXPECT_EQ(image.rules()[1].protocol, 17);
  EXPECT_EQ(image.rules()[2].class_mask, 8u);
  EXPECT_NE(image.database(), nullptr);
}

TEST(MatchImage, OfNoRulesHasNoDatabase) {
  const MatchFolder folder;
  write_match_image(folder.path("i"), {});
  const MatchImage image(folder.path("i"));
  EXPECT_TRUE(image.rules().empty());
  EXPECT_EQ(image.database(), nullptr);
}

TEST(MatchImage, LeavesTheOldVersionToWhoeverHasItMapped) {
  const MatchFolder folder;
  write_match_image(folder.path("i"), {rule_of(MatchAction::kDrop, "old", "old")});
  const MatchImage before(folder.path("i"));
  write_match_image(folder.path("i"), {rule_of(MatchAction::kDrop, "new", "new")});
  const MatchImage after(folder.path("i"));
  EXPECT_EQ(before.name(0), "old");
  EXPECT_EQ(after.name(0), "new");
}

TEST(MatchImage, IsRefusedWhenAnyByteOfItChanged) {
  const MatchFolder folder;
  write_match_image(folder.path("i"), {rule_of(MatchAction::kDrop, "abc", "n")});
  std::ifstream in(folder.path("i"), std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  for (std::size_t at = 0; at < good.size(); at += 61) {
    if (at >= 48 && at < 64) continue;  // padding of the header
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    EXPECT_THROW(MatchImage{folder.write("bad", bad)}, Error) << at;
  }
  EXPECT_THROW(MatchImage{folder.write("bad", good.substr(0, good.size() / 2))}, Error);
  EXPECT_THROW(MatchImage{folder.write("bad", "")}, Error);
  EXPECT_THROW(MatchImage{folder.path("absent")}, Error);
}

}  // namespace
}  // namespace millrace
