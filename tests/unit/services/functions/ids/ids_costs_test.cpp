// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_costs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "services/functions/ids/detect/prefilter.hpp"
#include "services/functions/ids/seen_view.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/ids/protocols/deflated.hpp"
#include "tests/unit/services/functions/packet_call.hpp"

namespace millrace {
namespace {

/// An expression that takes many steps at each place of a text of letters: a packet of kLetters
/// takes six units or more, so a source has not enough for kMany, whatever the clock says.
class IdsCostsTest : public IdsStage {
 protected:
  static constexpr std::size_t kLetters = 1400;
  static constexpr int kMany = 60;

  static std::string costly(const std::string& action, const std::string& more = "") {
    return action + " tcp any any -> any 80 (content:\"aaaa\"; " +
           "pcre:\"/[a-z]{1,60}[a-z]{1,50}\\d/\"; dsize:>1000; " + more + "sid:1;)\n";
  }
  /// Segments that pass, each with letters alone; the first other fate.
  std::pair<int, int> passing(int segments) {
    for (int passed = 0; passed < segments; ++passed) {
      const int fate = client(std::string(kLetters, 'a'));
      if (fate != kPasses) return {passed, fate};
    }
    return {segments, kPasses};
  }
  std::uint64_t given_up() const { return hits(IdsCounter::kGivenUp); }
};

TEST_F(IdsCostsTest, AConnectionThatCostsTooMuchIsDroppedWhereTheRuleMayDrop) {
  for (const char* action : {"drop", "reject"}) {
    hits_.clear();
    use(costly(action));
    open();
    const auto [passed, fate] = passing(kMany);
    EXPECT_LT(passed, kMany);
    EXPECT_EQ(fate, kCostly);
    EXPECT_EQ(given_up(), 1u);
    EXPECT_EQ(client("what follows"), kByRule);
    EXPECT_EQ(server("answer"), kByRule);
    EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 2u);
    EXPECT_EQ(hits(0), 0u);
    open(40'001);
    EXPECT_EQ(client("others pass", 40'001), kPasses);
  }
}

TEST_F(IdsCostsTest, ARuleThatOnlyAlertsIsGivenUp) {
  for (const auto& [rules, settings] :
       {std::pair<std::string, Settings>{costly("alert"), {}},
        {costly("alert", "flowbits:set,x; "), {}},  // no rule that drops asks for it
        {costly("drop"), {{"mode", "ids"}}},
        {costly("drop"), {{"learn", "true"}}}}) {
    hits_.clear();
    use(rules, settings);
    open();
    EXPECT_EQ(passing(kMany), (std::pair{kMany, kPasses})) << rules;
    EXPECT_GT(given_up(), 10u);
    EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 0u);
  }
}

TEST_F(IdsCostsTest, ARuleThatSetsAFlowbitMayBeWhatAnotherDropsBy) {
  use(costly("alert", "flowbits:set,x; ") +
      "drop tcp any any -> any 80 (flowbits:isset,x; content:\"z\"; sid:2;)\n");
  open();
  EXPECT_EQ(passing(kMany).second, kCostly);
}

TEST_F(IdsCostsTest, ARuleThatPassesCountsInItsOrder) {
  Settings drops_first;
  for (const char* action : {"drop", "reject", "pass", "alert"}) {
    drops_first.emplace_back("action_order", action);
  }
  for (const char* of_packet : {"", "dsize:>1000; "}) {
    const std::string passes =
        std::string("pass tcp any any -> any 80 (content:\"let me\"; ") + of_packet + "sid:2;)\n";
    for (const auto& [settings, due] : {std::pair{drops_first, kCostly}, {Settings{}, kPasses}}) {
      hits_.clear();
      use(costly("drop") + passes, settings);
      open();
      EXPECT_EQ(passing(kMany).second, kCostly);
      open(40'001);
      EXPECT_EQ(client(std::string(kLetters, 'a') + "let me", 40'001), due) << of_packet;
    }
  }
}

TEST_F(IdsCostsTest, WhatASourceHasComesBackWithTime) {
  use(costly("alert"));
  open();
  passing(kMany);
  const std::string made = std::string(1000, 'a') + "\nab1";
  EXPECT_EQ(client(made), kPasses);
  EXPECT_EQ(hits(0), 0u);
  // The kernel may stop the worker in a search: that counts as its time, so it may take some.
  for (int i = 0; i < 100 && hits(0) == 0; ++i) {
    now_s_ += 10;
    EXPECT_EQ(client(made), kPasses);
  }
  EXPECT_EQ(hits(0), 1u);
}

TEST_F(IdsCostsTest, ALookOfTooManyStepsIsGivenUp) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += "ab";
  for (const bool drops : {true, false}) {
    hits_.clear();
    use(std::string(drops ? "drop" : "alert") +
            " tcp any any -> any 80 (content:\"a\"; content:\"b\"; distance:0; pcre:\"/^c/R\"; "
            "sid:1;)\n",
        {{"history_kb", "64"}});
    open();
    int fate = kPasses;
    for (int sent = 0; sent < 40 && fate == kPasses; ++sent) fate = client(text);
    EXPECT_EQ(fate, drops ? kCostly : kPasses);
    EXPECT_GT(hits(IdsCounter::kGivenUp), 0u);
    EXPECT_EQ(client("what follows"), drops ? kByRule : kPasses);
  }
}

TEST_F(IdsCostsTest, ADatagramThatCostsTooMuchIsDroppedByItself) {
  use("drop udp any any -> any any (content:\"aaaa\"; pcre:\"/[a-z]{1,60}[a-z]{1,50}\\d/\"; "
      "sid:1;)\n");
  const auto udp = [](const std::string& text) {
    const auto bytes = static_cast<unsigned>(text.size());
    return FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(text).build();
  };
  int passed = 0;
  while (passed < kMany && send(udp(std::string(kLetters, 'a'))) == kPasses) ++passed;
  EXPECT_LT(passed, kMany);
  EXPECT_EQ(send(udp(std::string(kLetters, 'a'))), kCostly);
  EXPECT_EQ(send(udp("what follows")), kPasses);
}

/// Where a packet that is dropped by itself would end the parser of its flow.
class IdsLongBodyTest : public IdsCostsTest {
 protected:
  static constexpr char kDropsPage[] =
      "drop http any any -> any any (http.uri; content:\"/secret\"; sid:10;)\n";

  /// Sends a body of which more has been read than is kept.
  void begin_body() {
    open();
    EXPECT_EQ(client("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"), kPasses);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(client(std::string(1000, 'A')), kPasses);
      EXPECT_EQ(server(""), kPasses);
    }
  }
  /// Datagrams of made-up sources.
  void use_up_worker() {
    for (std::uint32_t source = 1; source < 300; ++source) {
      Frame frame = FrameBuilder()
                        .ipv4(17, 8 + kLetters)
                        .udp(kLetters)
                        .text(std::string(kLetters, 'a'))
                        .build();
      wire_bytes::put32(frame, 26, 0x0b000000 + source);
      EXPECT_EQ(send(frame), kPasses);
    }
    EXPECT_GT(given_up(), 0u);
  }
};

TEST_F(IdsLongBodyTest, APacketThatARuleDropsTakesItsConnectionWithIt) {
  use(std::string(kDropsPage) + "drop tcp any any -> any 80 (dsize:3; content:\"bad\"; sid:1;)\n",
      {{"history_kb", "1"}});
  begin_body();
  EXPECT_EQ(client("bad"), kByRule);
  EXPECT_EQ(client(std::string(1000, 'A')), kByRule);
  EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 1u);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
}

TEST_F(IdsLongBodyTest, APacketWhoseFlowIsKeptIsDroppedByItself) {
  use(std::string(kDropsPage) + "drop tcp any any -> any 80 (dsize:3; content:\"bad\"; sid:1;)\n");
  open();
  EXPECT_EQ(client("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"), kPasses);
  EXPECT_EQ(client("bad"), kByRule);
  EXPECT_EQ(client("works"), kPasses);
  EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kByRule);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
}

TEST_F(IdsLongBodyTest, AnEndForWhichNothingIsLeftTakesItsConnectionWithIt) {
  use("drop tcp-stream any any -> any 80 (content:\"aaaa\"; "
      "pcre:\"/[a-z]{1,60}[a-z]{1,50}\\d/\"; content:!\"zzz\"; distance:0; within:60; sid:1;)\n"
      "alert udp any any -> any any (content:\"aaaa\"; "
      "pcre:\"/[a-z]{1,60}[a-z]{1,50}\\d/\"; sid:2;)\n",
      {}, "1000");  // a connection that closes would give its place up for the others
  open();
  const std::string text = std::string(1000, 'a') + "\nab1";
  EXPECT_EQ(client(text), kPasses);
  const std::uint32_t at = first_ + 1 + static_cast<std::uint32_t>(text.size());
  EXPECT_EQ(send(segment(false, kFin | kAck, at, kServer + 1)), kPasses);
  use_up_worker();
  const Frame end = segment(true, kAck, kServer + 1, at + 1);
  EXPECT_EQ(send(end), kCostly);
  EXPECT_EQ(send(end), kByRule) << "nothing looks at the end once more";
}

TEST_F(IdsLongBodyTest, APacketForWhichNothingIsLeftTakesItsConnectionWithIt) {
  use(std::string(kDropsPage) + costly("drop") +
          "alert udp any any -> any any (content:\"aaaa\"; "
          "pcre:\"/[a-z]{1,60}[a-z]{1,50}\\d/\"; sid:2;)\n",
      {{"history_kb", "1"}});
  begin_body();
  use_up_worker();
  EXPECT_EQ(client(std::string(kLetters, 'a')), kCostly);
  EXPECT_EQ(client("what follows"), kByRule);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
}

/// The units that the rule with `drop` wants have been used up by others.
TEST_F(IdsLongBodyTest, ALookOfARuleThatOnlyAlertsTakesNoConnectionWithIt) {
  use(costly("drop") +
          "alert tcp any any -> any 80 (content:\"x\"; content:\"y\"; distance:0; "
          "pcre:\"/^c/R\"; sid:3;)\n"
          "alert udp any any -> any any (content:\"aaaa\"; "
          "pcre:\"/[a-z]{1,60}[a-z]{1,50}\\d/\"; sid:2;)\n",
      {{"history_kb", "64"}});
  open();
  std::string pairs;
  for (int i = 0; i < 700; ++i) pairs += "xy";
  for (int sent = 0; sent < 40 && given_up() == 0; ++sent) EXPECT_EQ(client(pairs), kPasses);
  ASSERT_GT(given_up(), 0u) << "each further pair is one too many";
  use_up_worker();
  const std::uint64_t before = given_up();
  EXPECT_EQ(client(std::string(1000, 'a') + pairs.substr(0, 400)), kCostly);
  EXPECT_GE(given_up(), before + 2);
  EXPECT_EQ(client("what follows"), kPasses);
}

TEST(IdsCosts, AConnectionInATunnelMayBeMadeUp) {
  PacketCall call({segment(false, kAck, 1, 2, "data")});
  const std::vector<Signature> none;
  const std::vector<std::byte> built = build_prefilter(none);
  Detector detector(none, built);
  IdsCosts costs(detector, none, true, 0);
  WorkShare* const share = costs.bounded({}).work;
  SeenPacket seen;
  seen.frame = call.batch.bytes(0);
  seen.headers = parse_headers(seen.frame);
  seen.has_flow = true;
  seen.flow.state = FlowState::kEstablished;
  seen.layer = SeenPacket::Layer::kCarried;
  const PacketView view = view_of(call.context(), seen);
  for (const bool is_of_batch : {true, false}) {
    costs.begin_packet(call.context(), view, is_of_batch);
    EXPECT_FALSE(share->take(WorkShare::kUnitsMax + 1));
    EXPECT_EQ(share->is_own_fault(), is_of_batch);
  }
}

/// Bodies of 2.5 MB in 16 KB, until something does not pass.
class IdsBombsTest : public IdsStage {
 protected:
  static constexpr std::size_t kRuns = 10'000, kSegment = 1400;

  static std::string rule_of(const std::string& action) {
    return action + " http any any -> any any (flow:to_client,established; file.data; " +
           "content:\"forbidden\"; sid:1;)\n";
  }
  /// How many answers passed, and the first other fate.
  std::pair<int, int> answers(int most) {
    const std::string body = DeflatedText::letters(kRuns);
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: " +
                               std::to_string(body.size()) + "\r\n\r\n" + body;
    for (int passed = 0; passed < most; ++passed) {
      EXPECT_EQ(client("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
      for (std::size_t at = 0; at < answer.size(); at += kSegment) {
        const int fate = server(answer.substr(at, kSegment));
        if (fate != kPasses) return {passed, fate};
      }
    }
    return {most, kPasses};
  }
};

TEST_F(IdsBombsTest, AConnectionIsDroppedWhereARuleMayDrop) {
  use(rule_of("drop"));
  open();
  const auto [passed, fate] = answers(40);
  EXPECT_EQ(fate, kCostly);
  EXPECT_GE(passed, 4);
  EXPECT_LE(passed, 12);
  EXPECT_EQ(hits(IdsCounter::kGivenUp), 1u);
  EXPECT_EQ(client("GET / HTTP/1.1\r\n\r\n"), kByRule);
}

TEST_F(IdsBombsTest, BodiesAreGivenUpWhereNoneMay) {
  for (const auto& [action, mode] : {std::pair{"alert", "ips"}, {"drop", "ids"}}) {
    hits_.clear();
    use(rule_of(action), {{"mode", mode}});
    open();
    EXPECT_EQ(answers(20), (std::pair{20, kPasses}));
    EXPECT_GT(hits(IdsCounter::kGivenUp), 8u);
    now_s_ += 10;
    EXPECT_EQ(client("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
    EXPECT_EQ(server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nforbidden"), kPasses);
    EXPECT_EQ(hits(0), 1u) << "what is not compressed is looked at";
    now_s_ += 10;
  }
}

}  // namespace
}  // namespace millrace
