// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "services/functions/match/literal_index.hpp"
#include "services/functions/match/rules.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/match/match_oracle.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

/// Of kRuleReasons, as a plan may say.
constexpr std::array<std::uint8_t, 1> kNumbers = {57};

using testing::ElementsAre;
using testing::HasSubstr;

Frame udp_of(std::string_view payload, unsigned source = 5000, unsigned destination = 53) {
  const auto bytes = static_cast<unsigned>(payload.size());
  return FrameBuilder().ipv4(17, 8 + bytes).udp(bytes, source, destination).text(payload).build();
}

Frame tcp_of(std::string_view payload, unsigned source = 40000, unsigned destination = 80) {
  const auto bytes = static_cast<unsigned>(payload.size());
  return FrameBuilder()
      .ipv4(6, 20 + bytes)
      .tcp(5, source, destination)
      .text(payload)
      .padding(4)
      .build();
}

/// Runs a built function over all of `frames` and keeps what came of it.
class Matched {
 public:
  Matched(const PlanFunction& plan, const std::vector<Frame>& frames)
      : hits(build(plan).counter_count), batch(batch_of(arena_, frames)) {
    const std::unique_ptr<Function> function = make(plan);
    std::vector<std::uint16_t> all(batch.count);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
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

TEST(Match, DropsClassifiesAndCountsByTheStrongestRule) {
  const MatchFolder folder;
  const Matched run(folder.plan("alert \"one\"\n"
                                "class video \"two\"\n"
                                "drop \"three\" nocase\n"
                                "class voice \"four\"\n",
                                {"voice", "video"}, 0b1010),
                    {tcp_of("one"), tcp_of("one two"), tcp_of("one two ThReE"), tcp_of("four two"),
                     tcp_of("nope")});
  // By strength: 1 drop three, 2 class two, 3 class four, 4 alert one.
  EXPECT_THAT(words(run.batch), ElementsAre(4, 2, 1, 2, 0));
  EXPECT_THAT(run.batch.classes, ElementsAre(0, 8, 0, 8, 0));
  EXPECT_THAT(run.batch.verdict, ElementsAre(0, 0, 1, 0, 0));
  EXPECT_EQ(run.batch.reason[2], kNumbers[0]);
  EXPECT_THAT(run.hits, ElementsAre(1, 2, 0, 1, 0, 0));
}

TEST(Match, ComputeChangesNothingButItsResults) {
  const MatchFolder folder;
  const Matched run(folder.plan("drop \"x\""), {tcp_of("x"), udp_of("x"), udp_of("y")});
  EXPECT_EQ(run.before, run.after_compute);
  EXPECT_NE(run.before, snapshot(run.batch));
}

TEST(Match, HoldsProtocolAndPortAgainstThePacket) {
  const MatchFolder folder;
  const Matched run(folder.plan("drop \"a\" proto udp port 53\n"
                                "alert \"a\" proto tcp\n"
                                "alert \"a\" port 7\n"),
                    {udp_of("a", 5000, 53), udp_of("a", 53, 5000), udp_of("a", 5000, 54),
                     tcp_of("a", 53, 9), tcp_of("a", 1, 7), udp_of("a", 7, 1)});
  EXPECT_THAT(words(run.batch), ElementsAre(1, 1, 0, 2, 2, 3));
}

TEST(Match, LooksAtThePayloadOnly) {
  const MatchFolder folder;
  const Frame icmp = FrameBuilder().ipv4(1, 12).text("12345678pingx").build();
  const Frame arp = FrameBuilder().type(0x0806).text("ping").build();
  const Frame later = FrameBuilder().ipv4(17, 8, 20, 0x0002).text("pingpong").build();
  const Matched run(folder.plan("drop \"ping\"\ndrop \"|00|\""),
                    {icmp, arp, later, tcp_of("pin"), Frame()});
  EXPECT_THAT(words(run.batch), ElementsAre(1, 0, 1, 0, 0))
      << "behind IP without a transport of ours, nothing without IP, fragments, not the padding";
}

TEST(Match, FindsLiteralsWithZerosAndAtBothEnds) {
  const MatchFolder folder;
  const Matched run(folder.plan("drop \"|00 01 00|\"\nalert \"\\xff\" nocase\n"),
                    {udp_of(std::string("\0\1\0", 3)), udp_of(std::string("ab\0\1\0", 5)),
                     udp_of(std::string("\0\1", 2)), udp_of("\xff"), udp_of("\xdf")});
  EXPECT_THAT(words(run.batch), ElementsAre(1, 1, 0, 2, 0));
}

TEST(Match, WithoutARulePassesEverything) {
  const MatchFolder folder;
  const Matched run(folder.plan("# nothing\n"), {tcp_of("x"), udp_of("y")});
  EXPECT_THAT(words(run.batch), ElementsAre(0, 0));
  EXPECT_THAT(run.batch.verdict, ElementsAre(0, 0));
}

TEST(Match, CountsResultWordsThatNameNoRuleAndLetThemPass) {
  const MatchFolder folder;
  const PlanFunction plan = folder.plan("drop \"x\"");
  build(plan);
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>{tcp_of("x"), tcp_of("y")});
  std::vector<std::uint64_t> hits(3);
  const std::vector<std::uint16_t> all = {0, 1};
  const std::vector<std::uint32_t> wrong = {2, UINT32_MAX};
  make(plan)->finish({batch, {all}, wrong, {hits}, {}, {}});
  EXPECT_THAT(hits, ElementsAre(0, 2, 0));
  EXPECT_THAT(batch.verdict, ElementsAre(0, 0));
}

TEST(Match, AgreesWithTheOracleOnRandomRulesAndPackets) {
  std::mt19937 random(11);
  const std::string alphabet = "abAB\xe4\xc4";
  const auto text = [&](std::size_t bytes_max) {
    std::string made(random() % (bytes_max + 1), 'a');
    for (char& byte : made) byte = alphabet[random() % alphabet.size()];
    return made;
  };
  std::size_t matched = 0, compared = 0;
  for (int run = 0; run < 40; ++run) {
    std::string rules;
    for (int i = 0; i < 30; ++i) {
      const char* actions[] = {"drop", "class c", "alert"};
      rules += std::string(actions[random() % 3]) + " \"" + text(7) + "a\"";
      if (random() % 2 == 0) rules += " nocase";
      if (random() % 4 == 0) rules += random() % 2 == 0 ? " proto tcp" : " proto udp";
      if (random() % 4 == 0) rules += " port " + std::to_string(1 + random() % 3);
      rules += "\n";
    }
    std::vector<Frame> frames;
    while (frames.size() < kBatchCapacityMax) {
      const unsigned source = 1 + random() % 4, destination = 1 + random() % 4;
      const Frame frame = random() % 2 == 0 ? udp_of(text(24), source, destination)
                                            : tcp_of(text(24), source, destination);
      frames.push_back(random() % 8 == 0 ? random_frame(random) : frame);
    }
    const MatchFolder folder;
    const Matched found(folder.plan(rules, {"c"}, 2), frames);
    const std::vector<MatchClass> classes = {{"c", 2}};
    const auto expected = oracle::by_strength(parse_match_rules(rules, "m", classes).rules);
    ASSERT_EQ(expected.size(), 30u);
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      ASSERT_EQ(found.batch.results(0)[i], oracle::match_word(frames[i], expected))
          << run << " " << i;
      matched += found.batch.results(0)[i] != 0;
      ++compared;
    }
  }
  EXPECT_GT(matched, compared / 5);
  EXPECT_LT(matched, compared * 4 / 5);
}

TEST(Match, StartsInAWorkerThoughItsRuleFilesAreAway) {
  const MatchFolder folder;
  const PlanFunction plan = folder.plan("drop \"x\"");
  build(plan);
  std::filesystem::remove(folder.path("m.rules"));
  EXPECT_NO_THROW(match_type().make({.function = plan, .ports = {}}));
}

Frame behind_extensions(unsigned count, std::string_view payload) {
  const auto bytes = static_cast<unsigned>(payload.size());
  FrameBuilder frame;
  frame.ipv6(60, 8 * count + 8 + bytes);
  for (unsigned i = 1; i <= count; ++i) frame.extension(i == count ? 17 : 60, 8);
  return frame.udp(bytes).text(payload).build();
}

TEST(Match, APayloadBehindTooManyExtensionHeadersIsDroppedWhereARuleDrops) {
  const MatchFolder folder;
  const std::vector<Frame> frames = {behind_extensions(8, "xy"), behind_extensions(9, "xy"),
                                     behind_extensions(8, "z")};
  const Matched drops(folder.plan("alert \"q\"\ndrop \"xy\"\n"), frames);
  EXPECT_THAT(words(drops.batch), ElementsAre(1, kMatchHidden, 0));
  EXPECT_THAT(drops.batch.verdict, ElementsAre(1, 1, 0));
  EXPECT_EQ(drops.batch.reason[1], kNumbers[0]);
  EXPECT_THAT(drops.hits, ElementsAre(1, 0, 0, 1));
  const Matched alerts(folder.plan("alert \"xy\"\n"), frames);
  EXPECT_THAT(alerts.batch.verdict, ElementsAre(0, 0, 0));
  EXPECT_THAT(alerts.hits, ElementsAre(1, 0, 1));
}

/// Rules that differ in nothing but what they ask for beside the literal.
TEST(Match, RulesThatShareALiteralAreToldApartByTheirPorts) {
  const MatchFolder folder;
  for (const char* const literal : {"\"ab\"", "\"abcdefgh\"", "\"a\""}) {
    std::string rules;
    for (int port = 1; port <= 40; ++port) {
      rules += std::string(port % 2 == 0 ? "alert " : "drop ") + literal +
               (port % 3 == 0 ? " nocase" : "") + " port " + std::to_string(port) +
               (port % 5 == 0 ? " proto tcp" : "") + "\n";
    }
    const auto parsed = oracle::by_strength(parse_match_rules(rules, "m", {}).rules);
    std::vector<Frame> frames;
    for (unsigned port = 1; port <= 41; ++port) {
      for (const char* const text : {"xxabcdefghxx", "ABCDEFGH", "nothing"}) {
        frames.push_back(udp_of(text, 5000, port));
        frames.push_back(tcp_of(text, port, 5000));
        frames.push_back(udp_of(text, port, port + 1));
      }
    }
    for (std::size_t first = 0; first < frames.size(); first += 64) {
      const auto last = std::min(first + 64, frames.size());
      const std::vector<Frame> some(frames.begin() + static_cast<std::ptrdiff_t>(first),
                                    frames.begin() + static_cast<std::ptrdiff_t>(last));
      const Matched found(folder.plan(rules), some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        ASSERT_EQ(found.batch.results(0)[i], oracle::match_word(some[i], parsed))
            << literal << " " << first + i;
      }
    }
  }
}

TEST(Match, ReportsRefusedRulesWithFileAndLine) {
  const MatchFolder folder;
  const BuildReport report =
      build(folder.plan("drop \"x\"\ndrop \"\"\nclass no \"x\"\nalert \"y\""));
  EXPECT_EQ(report.accepted, 2u);
  EXPECT_EQ(report.refused, 2u);
  EXPECT_EQ(report.counter_count, 4u);
  EXPECT_THAT(report.refusals, ElementsAre(HasSubstr("m.rules:2: the literal is empty"),
                                           HasSubstr("m.rules:3: class 'no'")));
}

TEST(Match, KeepsAtMostAHundredRefusals) {
  const MatchFolder folder;
  std::string rules;
  for (int i = 0; i < 150; ++i) rules += "drop \"\"\n";
  const BuildReport report = build(folder.plan(rules));
  EXPECT_EQ(report.refused, 150u);
  EXPECT_EQ(report.refusals.size(), 100u);
}

TEST(Match, ReadsSeveralRuleFilesInTheirOrder) {
  const MatchFolder folder;
  PlanFunction plan = folder.plan("alert \"x\"");
  plan.settings.emplace_back("rules", folder.write("second.rules", "alert \"x\"\ndrop \"y\"\n"));
  const Matched run(plan, {udp_of("x"), udp_of("xy")});
  EXPECT_THAT(words(run.batch), ElementsAre(2, 1));
}

std::string check_error(const PlanFunction& plan) {
  try {
    match_type().check(plan);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Match, ChecksItsSettings) {
  const MatchFolder folder;
  EXPECT_EQ(check_error(folder.plan("drop \"x\"", {"c"}, 1)), "");
  EXPECT_THAT(check_error({}), HasSubstr("rules: match needs at least one rule file"));
  PlanFunction plan = folder.plan("");
  plan.settings = {{"rules", folder.path("absent")}};
  EXPECT_THAT(check_error(plan),
              HasSubstr("rules: read " + folder.path("absent") + ": No such file or directory"));
  plan.settings = {{"rules", folder.path("")}};
  EXPECT_THAT(check_error(plan), HasSubstr("rules: read " + folder.path("") + ": it is a folder"));
  plan.settings = {{"rulez", "x"}};
  EXPECT_THAT(check_error(plan), HasSubstr("rulez: match has no such setting"));
}

TEST(Match, RefusesMoreClassNamesThanBits) {
  const MatchFolder folder;
  EXPECT_THROW(build(folder.plan("", {"a", "b"}, 1)), Error);
}

/// A match with these rules, whose events are written to `ring`, over one packet of each payload.
std::vector<EventRecord> told_by(const MatchFolder& folder, const std::string& rules,
                                 const std::string& events, const std::vector<Frame>& frames) {
  PlanFunction plan = folder.plan(rules);
  if (!events.empty()) plan.settings.emplace_back("events", events);
  build(plan);
  const std::unique_ptr<Function> function = make(plan);
  BatchArena arena(kBatchCapacityMax);
  const Batch batch = batch_of(arena, frames);
  std::vector<std::uint16_t> all(batch.count);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  EventRingOfTest ring;
  function->compute(batch, {all}, batch.results(0));
  function->finish({batch, {all}, batch.results(0), {}, {}, {}, ring.writer(batch)});
  return ring.told();
}

TEST(Match, TellsOfPacketsThatARuleCountsWhereItIsToldTo) {
  const MatchFolder folder;
  const std::string rules = "drop \"bad\" name \"a bad one\"\nalert \"odd\"\n";
  const std::vector<Frame> frames = {tcp_of("odd"), tcp_of("well"), udp_of("bad odd", 7000, 53)};
  EXPECT_TRUE(told_by(folder, rules, "", frames).empty());
  EXPECT_TRUE(told_by(folder, rules, "false", frames).empty());
  const std::vector<EventRecord> told = told_by(folder, rules, "true", frames);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].kind, EventKind::kAlert);
  EXPECT_EQ(told[0].packet, 0u);
  EXPECT_EQ(told[0].alert.rule, 1u);
  EXPECT_EQ(told[0].alert.action, EventAction::kAllowed);
  EXPECT_THAT(std::string(told[0].alert.name), HasSubstr(":2")) << "file and line";
  EXPECT_EQ(told[0].protocol, 6u);
  EXPECT_EQ(told[1].packet, 2u);
  EXPECT_EQ(told[1].alert.rule, 0u);
  EXPECT_EQ(told[1].alert.action, EventAction::kBlocked);
  EXPECT_STREQ(told[1].alert.name, "a bad one");
  EXPECT_EQ(told[1].source_port, 7000u);
}

TEST(Match, RefusesAFlagThatIsNone) {
  const MatchFolder folder;
  PlanFunction plan = folder.plan("alert \"x\"");
  plan.settings.emplace_back("events", "yes");
  EXPECT_THAT(check_error(plan), HasSubstr("events: 'yes' is no flag; there are: true, false"));
}

}  // namespace
}  // namespace millrace
