// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"
#include "tests/unit/services/functions/acl/acl_random.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/services/functions/event_ring.hpp"

namespace millrace {
namespace {

/// Of kRuleReasons, as a plan may say.
constexpr std::array<std::uint8_t, 1> kNumbers = {57};

using testing::ElementsAre;
using testing::HasSubstr;

Frame tcp_to(unsigned port) { return FrameBuilder().ipv4(6, 20).tcp(5, 40000, port).build(); }
Frame arp() { return FrameBuilder().type(0x0806).padding(28).build(); }

/// Runs a built function over all of `frames` and keeps what came of it.
class Filtered {
 public:
  Filtered(const PlanFunction& plan, const std::vector<Frame>& frames)
      : hits(build(plan).counter_count), batch(batch_of(arena_, frames)) {
    const std::unique_ptr<Function> function = make(plan);
    std::vector<std::uint16_t> all(batch.count);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    before = snapshot(batch);
    function->compute(batch, {all}, batch.results(0));
    after_compute = snapshot(batch);
    function->finish({batch, {all}, batch.results(0), {hits}, {}, {}, {}, kNumbers});
  }

 private:
  BatchArena arena_{kBatchCapacityMax};

 public:
  std::vector<std::uint64_t> hits;
  Batch batch;
  std::vector<std::byte> before, after_compute;
};

const char* const kRules =
    "drop tcp 10.0.0.0/8 -> any port 80\n"
    "pass tcp any -> any port 80-81\n"
    "alert tcp any -> any port 82\n"
    "class voice tcp any -> any port 83\n"
    "class video tcp any -> any port 84\n";

TEST(Acl, TakesTheFirstRuleThatMatches) {
  const AclFolder folder;
  const Filtered run(
      folder.plan(kRules, {{"classes", "voice"}, {"classes", "video"}}, 0b1010),
      {tcp_to(80), tcp_to(81), tcp_to(82), tcp_to(83), tcp_to(84), tcp_to(85), arp(), Frame()});
  EXPECT_THAT(words(run.batch), ElementsAre(1, 2, 3, 4, 5, 0, UINT32_MAX, UINT32_MAX));
  EXPECT_THAT(run.batch.verdict, ElementsAre(1, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(run.batch.reason[0], kNumbers[0]);
  EXPECT_THAT(run.batch.classes, ElementsAre(0, 0, 0, 2, 8, 0, 0, 0));
  EXPECT_THAT(run.hits, ElementsAre(1, 1, 1, 1, 1, 1, 2, 0, 0));
  EXPECT_EQ(run.before, run.after_compute);
}

TEST(Acl, TheDefaultIsForWhatNoRulePassesOrDrops) {
  const AclFolder folder;
  const Filtered run(
      folder.plan(kRules, {{"default", "drop"}, {"classes", "voice"}, {"classes", "video"}}, 3),
      {tcp_to(80), tcp_to(81), tcp_to(82), tcp_to(83), tcp_to(84), tcp_to(85), arp()});
  EXPECT_THAT(run.batch.verdict, ElementsAre(1, 0, 1, 0, 0, 1, 0));
  const Filtered other(folder.plan("", {{"non_ip", "drop"}}), {tcp_to(80), arp()});
  EXPECT_THAT(other.batch.verdict, ElementsAre(0, 1));
}

TEST(Acl, AWordThatNamesNoRuleIsCountedAndTakesTheDefault) {
  const AclFolder folder;
  const PlanFunction plan = folder.plan("pass tcp any -> any", {{"default", "drop"}});
  build(plan);
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>{tcp_to(1), tcp_to(2)});
  std::vector<std::uint64_t> hits(5);
  const std::vector<std::uint16_t> all = {0, 1};
  make(plan, false)->finish({batch, {all}, std::vector<std::uint32_t>{2, 1}, {hits}, {}, {}});
  EXPECT_THAT(hits, ElementsAre(1, 0, 0, 1, 0));
  EXPECT_THAT(batch.verdict, ElementsAre(1, 0));
}

TEST(Acl, DropsAndCountsWhatHidesItsTransportWhateverTheRulesSay) {
  const AclFolder folder;
  const auto fragment = [](unsigned bytes, unsigned offset) {
    return FrameBuilder().ipv4(6, bytes, 20, offset).tcp(5, 40000, 22).build();
  };
  for (const char* method : {"tries", "bits"}) {
    const Filtered run(folder.plan("drop tcp any -> any port 22 flags S/SA\npass ip any -> any\n",
                                   {{"method", method}}),
                       {fragment(8, 0x2000), fragment(20, 1), fragment(16, 0x2000), tcp_to(22)});
    EXPECT_THAT(words(run.batch), ElementsAre(kAclHidden, kAclHidden, 2, 2));
    EXPECT_THAT(run.batch.verdict, ElementsAre(1, 1, 0, 0));
    EXPECT_EQ(run.batch.reason[0], kNumbers[0]);
    EXPECT_THAT(run.hits, ElementsAre(0, 2, 0, 0, 0, 2));
  }
}

TEST(Acl, AgreesWithTheOracleOnRandomRulesAndPacketsByEveryMethod) {
  std::mt19937 random(13);
  std::size_t found = 0, compared = 0;
  for (const std::size_t count : {5, 60, 400, 6, 61}) {
    const AclFolder folder;
    const std::string text = random_rules(random, count, count % 5 == 1);
    const auto rules = parse_acl_rules(text, "r", {}).rules;
    for (const char* method : {"auto", "tries", "bits"}) {
      for (int round = 0; round < 6; ++round) {
        std::vector<Frame> frames;
        while (frames.size() < kBatchCapacityMax) frames.push_back(random_acl_frame(random));
        if (round % 2 == 0) frames.resize(1 + random() % kBatchCapacityMax);
        const Filtered run(folder.plan(text, {{"method", method}}), frames);
        for (std::uint32_t i = 0; i < frames.size(); ++i) {
          const std::uint32_t expected = oracle::acl_word(oracle::acl_packet(frames[i]), rules);
          ASSERT_EQ(run.batch.results(0)[i], expected) << method << " " << count << " " << i;
          found += expected != 0 && expected != kAclNotIp;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(found, compared / 4);
  EXPECT_LT(found, compared);
}

TEST(Acl, OnADeviceComputesTheSameWithoutBuildingTries) {
  const AclFolder folder;
  const PlanFunction plan = folder.plan("pass tcp any -> any port 80\ndrop tcp any -> any\n");
  build(plan);
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>{tcp_to(80), tcp_to(81), arp()});
  const std::vector<std::uint16_t> all = {0, 1, 2};
  const auto function =
      acl_type().make({.function = plan, .ports = {}, .computes = true, .on_device = true});
  function->compute(batch, {all}, batch.results(0));
  EXPECT_THAT(words(batch), ElementsAre(1, 2, kAclNotIp));
}

TEST(Acl, StartsInAWorkerThoughItsRuleFilesAreAway) {
  const AclFolder folder;
  const PlanFunction plan = folder.plan("drop tcp any -> any port 80\n");
  build(plan);
  std::filesystem::remove(folder.path("a.rules"));
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>{tcp_to(80), tcp_to(81)});
  const std::vector<std::uint16_t> all = {0, 1};
  make(plan)->compute(batch, {all}, batch.results(0));
  EXPECT_THAT(words(batch), ElementsAre(1, 0));
}

TEST(Acl, ReportsRefusedLinesAndReadsSeveralFilesInTheirOrder) {
  const AclFolder folder;
  PlanFunction plan = folder.plan("drop tcp any -> any port 80\ndrop nonsense\n");
  plan.settings.emplace_back("rules", folder.write("more", "pass tcp any -> any\nx\n"));
  const BuildReport report = build(plan);
  EXPECT_EQ(report.accepted, 2u);
  EXPECT_EQ(report.refused, 2u);
  EXPECT_EQ(report.counter_count, 6u);
  EXPECT_THAT(report.refusals,
              ElementsAre(HasSubstr("a.rules:2: "), HasSubstr("more:2: 'x' is no action")));
  EXPECT_THAT(words(Filtered(plan, {tcp_to(80), tcp_to(81)}).batch), ElementsAre(1, 2));
}

std::string check_error(const PlanFunction& plan) {
  try {
    acl_type().check(plan);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Acl, ChecksItsSettings) {
  const AclFolder folder;
  EXPECT_EQ(check_error(folder.plan("", {{"default", "drop"}, {"method", "bits"}})), "");
  EXPECT_THAT(check_error({}), HasSubstr("rules: acl needs at least one rule file"));
  EXPECT_EQ(check_error(folder.plan("", {{"default", "deny"}})),
            "default is 'deny'; allowed: pass, drop");
  EXPECT_EQ(check_error(folder.plan("", {{"non_ip", ""}})), "non_ip is ''; allowed: pass, drop");
  EXPECT_EQ(check_error(folder.plan("", {{"method", "trie"}})),
            "method is 'trie'; allowed: auto, tries, bits");
  EXPECT_THAT(check_error(folder.plan("", {{"rulez", "x"}})), HasSubstr("no such setting"));
}

TEST(Acl, SaysWhenTheTableForAGpuIsLeftOut) {
  const AclFolder folder;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    const std::string port = std::to_string(i * 13);
    text += "drop ip any port " + port + " -> any port " + port + "\n";
  }
  const PlanFunction plan = folder.plan(text, {{"method", "bits"}});
  const BuildReport report = build(plan);
  EXPECT_EQ(report.refused, 0u);
  EXPECT_THAT(report.refusals, ElementsAre(HasSubstr("left out: the table for a GPU")));
  EXPECT_THROW(make(plan), Error);
}

TEST(Acl, TellsOfPacketsOfRulesWithLog) {
  const AclFolder folder;
  const PlanFunction plan = folder.plan(
      "drop tcp any -> any port 80 log name closed\n"
      "pass tcp any -> any port 81 log\n"
      "drop tcp any -> any port 82\n"
      "alert tcp any -> any port 83 log name \"by default\"\n",
      {{"default", "drop"}});
  build(plan);
  const std::unique_ptr<Function> function = make(plan);
  BatchArena arena(kBatchCapacityMax);
  const std::vector<Frame> frames = {tcp_to(80), tcp_to(81), tcp_to(82), tcp_to(83),
                                     tcp_to(84), arp(),      tcp_to(80)};
  const Batch batch = batch_of(arena, frames);
  std::vector<std::uint16_t> all(batch.count);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  EventRingOfTest ring;
  function->compute(batch, {all}, batch.results(0));
  function->finish({batch, {all}, batch.results(0), {}, {}, {}, ring.writer(batch)});
  const std::vector<EventRecord> told = ring.told();
  ASSERT_EQ(told.size(), 4u);
  const std::uint32_t packets[] = {0, 1, 3, 6}, rules[] = {0, 1, 3, 0};
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].packet, packets[i]);
    EXPECT_EQ(told[i].alert.rule, rules[i]);
    EXPECT_EQ(told[i].alert.action == EventAction::kBlocked, batch.is_dropped(packets[i]));
  }
  EXPECT_STREQ(told[0].alert.name, "closed");
  EXPECT_THAT(std::string(told[1].alert.name), HasSubstr(":2"));
  EXPECT_STREQ(told[2].alert.name, "by default");
  EXPECT_EQ(told[0].destination_port, 80u);
}

}  // namespace
}  // namespace millrace
