// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_watch.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"

namespace millrace {
namespace {

constexpr char kRulesOfTwins[] =
    "alert http any any -> any any (flow:to_server; http.uri; content:\"/page\"; sid:1;)\n"
    "alert http any any -> any any (flow:to_server; http.method; content:\"POST\"; "
    "http.request_body; content:\"needle\"; sid:2;)\n"
    "alert http any any -> any any (flow:to_client; http.stat_code; content:\"404\"; sid:3;)\n"
    "alert http any any -> any any (flow:to_client; file.data; content:\"thread\"; "
    "content:\"end\"; distance:1; sid:4;)\n"
    "alert http any any -> any any (flow:to_server; http.host; content:\"b.test\"; "
    "flowbits:set,host; sid:5;)\n"
    "alert http any any -> any any (flow:to_client; flowbits:isset,host; http.server; "
    "content:\"own\"; sid:6;)\n"
    "alert tcp any any -> any any (flow:to_server; content:\"POST\"; content:\"eye\"; "
    "distance:3; within:120; sid:7;)\n"
    "alert tcp any any -> any any (flow:to_client; content:\"thread\"; sid:8;)\n"
    "alert tcp any any -> any any (flow:to_server; content:\"POST\"; content:!\"b.test\"; "
    "distance:0; within:60; sid:9;)\n"
    "drop http any any -> any any (flow:to_server; http.uri; content:\"/secret\"; sid:10;)\n";

/// A stage of its own beside another one.
struct Twin : IdsStage {
  Twin() { use(kRulesOfTwins); }
  void TestBody() override {}
  using IdsStage::client, IdsStage::server, IdsStage::open, IdsStage::start, IdsStage::hits_,
      IdsStage::hits, IdsStage::die, IdsStage::sent_, IdsStage::kPasses;
};

template <typename Text>
std::string one_of(std::mt19937& random, std::initializer_list<Text> texts) {
  return *(texts.begin() + random() % texts.size());
}

std::string request_of(std::mt19937& random) {
  const bool posts = random() % 2 == 0;
  std::string body;
  while (posts && random() % 4 != 0) {
    body += one_of(random, {"needle", "need", "eye", " haystack ", "le"});
  }
  const std::string path =
      random() % 12 == 0 ? "/%73ecret" : one_of(random, {"/page", "/p%61ge", "/other"});
  std::string text = std::string(posts ? "POST " : "GET ") + path +
                     " HTTP/1.1\r\nHost: " + one_of(random, {"a.test", "b.test", "B.test"}) +
                     "\r\n";
  if (posts) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

std::string answer_of(std::mt19937& random) {
  std::string body;
  while (random() % 5 != 0) body += one_of(random, {"thread", "thr", "ead", " end", " and "});
  return "HTTP/1.1 " + one_of(random, {"200 OK", "404 Not Found"}) +
         "\r\nServer: " + one_of(random, {"own", "other"}) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// One worker reads a conversation; beside it workers that know nothing begin at random segments,
/// or die with one. Both say the same of each segment.
TEST(FlowWatch, WhatIsMadeAnewSaysTheSame) {
  std::vector<std::uint64_t> seen;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Twin steady, fickle;
    for (std::uint16_t port = 40'000; port < 40'006; ++port) {
      steady.open(port);
      fickle.open(port);
      int fate = Twin::kPasses;
      for (int turn = 0; turn < 10 && fate == Twin::kPasses; ++turn) {
        const bool back = turn % 2 == 1;
        const std::string text = back ? answer_of(random) : request_of(random);
        for (std::size_t at = 0; at < text.size() && fate == Twin::kPasses;) {
          const std::string piece = text.substr(at, 1 + random() % 50);
          at += piece.size();
          const auto say = [&](Twin& to) {
            return back ? to.server(piece, port) : to.client(piece, port);
          };
          if (random() % 3 == 0) fickle.start();
          const auto sent = fickle.sent_;
          const auto hits = fickle.hits_;
          if (random() % 5 == 0) {  // it passes nothing on, and the segment comes again
            say(fickle);
            fickle.die();
            fickle.sent_ = sent;
            fickle.hits_ = hits;
          }
          fate = say(steady);
          ASSERT_EQ(say(fickle), fate) << piece;
          ASSERT_EQ(fickle.hits_, steady.hits_) << piece;
        }
      }
    }
    EXPECT_EQ(fickle.hits(IdsCounter::kLostParser), 0u);
    seen.resize(10);
    for (std::size_t rule = 0; rule < 10; ++rule) seen[rule] += steady.hits(rule);
  }
  for (const std::uint64_t hits : seen) EXPECT_GT(hits, 0u);
}

// Rules of what a flow carries, and of nothing else.
using FlowWatchRecognition = IdsStage;

TEST_F(FlowWatchRecognition, CountsOnceForEachDirection) {
  use("alert tcp any any -> any any (app-layer-protocol:!tls; sid:1;)\n"
      "alert tcp any any -> any any (app-layer-protocol:!http; sid:2;)\n"
      "alert tcp any any -> any any (app-layer-protocol:http; sid:3;)\n"
      "alert tcp any any -> any any (app-layer-protocol:!tls; content:\"Host\"; sid:4;)\n");
  open();
  client("GE");
  EXPECT_EQ(hits(0), 0u);
  client("T / HTTP/1.1\r\n");
  EXPECT_EQ(hits(0), 1u);
  client("Host: a\r\n\r\n");
  server("HTTP/1.1 200 OK\r\n");
  server("Content-Length: 0\r\n\r\n");
  EXPECT_EQ(hits(0), 2u);
  EXPECT_EQ(hits(1), 0u);
  EXPECT_EQ(hits(2), 2u);
  EXPECT_EQ(hits(3), 1u);
}

TEST_F(FlowWatchRecognition, ADropIsForTheFlow) {
  use("drop tcp any any -> any 80 (app-layer-protocol:!tls; sid:1;)\n");
  open();
  EXPECT_EQ(client("GET / HTTP/1.1\r\n"), kByRule);
  EXPECT_EQ(server("answer"), kByRule);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(alerts(), 1u);
}

// What the end of a stream decides.
using FlowWatchEnds = IdsStage;

TEST_F(FlowWatchEnds, ARuleMatchesByWhatDoesNotFollow) {
  use("alert tcp any any -> any any (content:\"first\"; content:!\"absent\"; within:100; sid:1;)\n"
      "alert tcp any any -> any any (content:\"second\"; content:!\"first\"; within:99; sid:2;)\n");
  open();
  client("the first");
  EXPECT_EQ(hits(0), 0u);
  const std::uint32_t next = first_ + 1 + sent_[0];
  send(segment(false, kFin | kAck, next, kServer + 1, ""));
  send(segment(true, kAck, kServer + 1, next + 1, ""));
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(hits(1), 0u);
}

TEST_F(FlowWatchEnds, TheirAlertIsAboutTheSideThatHasSent) {
  EventRingOfTest ring;
  events_ = &ring.log;
  use("alert tcp any any -> any any (content:\"first\"; content:!\"absent\"; within:100; "
      "threshold:type limit, track by_src, count 1, seconds 60; sid:1;)\n",
      {{"events", "true"}});
  for (const bool server_sends : {false, true}) {
    SCOPED_TRACE(server_sends);
    open();
    if (server_sends) {
      server("the first");
    } else {
      client("the first");
    }
    const std::array<std::uint32_t, 2> next{first_ + 1 + sent_[0], kServer + 1 + sent_[1]};
    const std::size_t own = server_sends ? 1 : 0;
    send(segment(server_sends, kFin | kAck, next[own], next[1 - own], ""));
    send(segment(!server_sends, kAck, next[1 - own], next[own] + 1, ""));
    std::vector<EventRecord> told = ring.told();
    std::erase_if(told, [](const auto& one) { return one.kind != EventKind::kSignature; });
    ASSERT_EQ(told.size(), 1u) << "each source is counted by itself";
    EXPECT_EQ(told[0].signature.direction,
              server_sends ? FlowDirection::kToClient : FlowDirection::kToServer);
    EXPECT_EQ(told[0].source_port, server_sends ? 80 : 40'000);
    EXPECT_EQ(told[0].destination_port, server_sends ? 40'000 : 80);
    close();
  }
}

// Data of a SYN, and of no connection.
using FlowWatchOpenings = IdsStage;
constexpr char kDropWordAtOnce[] =
    "drop tcp any any -> any 80 (msg:\"word\"; content:\"forbidden\"; sid:1;)\n";

TEST_F(FlowWatchOpenings, RulesSeeDataThatNoStreamHas) {
  use(kDropWordAtOnce);
  EXPECT_EQ(send(segment(false, kSyn, first_, 0, "a forbidden word")), kByRule);
  EXPECT_EQ(send(segment(false, kSyn, first_, 0, "a word")), kConflict);
  open();
  EXPECT_EQ(send(segment(false, kFin | kAck, 1, 1, "forbidden", 40'001)), kByRule);
  EXPECT_EQ(send(segment(false, kFin | kAck, 1, 1, "allowed", 40'001)), kConflict);
  EXPECT_EQ(hits(0), 2u);
  EXPECT_EQ(alerts(), 2u);
}

TEST_F(FlowWatchOpenings, AnIdsReadsDataOfASyn) {
  use("alert http any any -> any any (http.uri; content:\"/secret\"; sid:1;)\n"
      "alert http any any -> any any (http.stat_code; content:\"204\"; sid:2;)\n"
      "alert tcp any any -> any any (content:\"second\"; sid:3;)\n",
      {{"mode", "ids"}});
  const std::string question = "GET /secret HTTP/1.1\r\nHost: a\r\n\r\n";
  const auto bytes = static_cast<std::uint32_t>(question.size());
  EXPECT_EQ(send(segment(false, kSyn, first_, 0, question)), kPasses);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(send(segment(false, kSyn, first_, 0, question)), kPasses);  // sent once more
  EXPECT_EQ(send(segment(true, kSyn | kAck, kServer, first_ + 1 + bytes)), kPasses);
  // The answer does not wait for the last segment of the handshake.
  sent_ = {bytes, 0};
  EXPECT_EQ(server("HTTP/1.1 204 None\r\n\r\n"), kPasses);
  EXPECT_EQ(client("GET /second HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
  EXPECT_EQ(server("HTTP/1.1 204 None\r\n\r\n"), kPasses);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(hits(1), 2u);
  EXPECT_EQ(hits(2), 1u);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
  EXPECT_EQ(hits(StreamCounter::kUnread), 0u);
}

/// Connections that want more memory for their parsers than there is.
class FlowWatchMemoryTest : public IdsStage {
 protected:
  static constexpr char kDropsPage[] =
      "drop http any any -> any any (http.uri; content:\"/secret\"; sid:1;)\n";
  static constexpr char kAlertsPage[] =
      "alert http any any -> any any (http.uri; content:\"/secret\"; sid:1;)\n";
  static constexpr char kPost[] = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";

  void begin_body(std::uint16_t port) {
    open(port);
    EXPECT_EQ(client(kPost, port), kPasses);
    for (int i = 0; i < 60; ++i) {
      EXPECT_EQ(client(std::string(1000, 'a'), port), kPasses);
      EXPECT_EQ(server("", port), kPasses);
    }
  }
  void begin_others() {
    for (std::uint16_t port = 40'001; port < 40'040; ++port) begin_body(port);
    EXPECT_GT(hits(IdsCounter::kMadeRoom), 10u);
    EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
  }
};

TEST_F(FlowWatchMemoryTest, AParserThatMadeRoomIsMadeAnew) {
  use(kDropsPage, {{"parser_mb", "1"}});
  open();
  EXPECT_EQ(client("GET /sec"), kPasses);
  const auto sent = sent_;
  begin_others();
  sent_ = sent;
  EXPECT_EQ(client("ret HTTP/1.1\r\n\r\n"), kByRule);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
  EXPECT_EQ(hits(IdsCounter::kGivenUp), 0u);
}

TEST_F(FlowWatchMemoryTest, AConnectionThatCannotBeReadOnIsDropped) {
  use(kDropsPage, {{"parser_mb", "1"}, {"history_kb", "1"}});
  begin_body(40'000);
  const auto sent = sent_;
  begin_others();
  sent_ = sent;
  EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kCostly);
  EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kByRule);
  EXPECT_EQ(server("answer"), kByRule);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 1u);
  EXPECT_EQ(hits(IdsCounter::kGivenUp), 1u);
}

TEST_F(FlowWatchMemoryTest, ItIsDroppedAlsoWhereAnotherRuleDecidesAboutThePacket) {
  for (const auto& [action, fate] : {std::pair{"drop", kByRule}, {"pass", kPasses}}) {
    SCOPED_TRACE(action);
    hits_.clear();
    use(std::string(kDropsPage) + action + " tcp any any -> any any (dsize:7; sid:2;)\n",
        {{"parser_mb", "1"}, {"history_kb", "1"}});
    begin_body(40'000);
    const auto sent = sent_;
    begin_others();
    sent_ = sent;
    EXPECT_EQ(client("1234567"), fate);
    EXPECT_EQ(hits(IdsCounter::kLostParser), 1u);
    EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kByRule);
    EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 1u);
  }
}

TEST_F(FlowWatchMemoryTest, ItPassesWhereNothingMayBeDropped) {
  for (const auto& [rules, mode] : {std::pair{kDropsPage, "ids"}, {kAlertsPage, "ips"}}) {
    hits_.clear();
    use(rules, {{"parser_mb", "1"}, {"history_kb", "1"}, {"mode", mode}});
    begin_body(40'000);
    const auto sent = sent_;
    begin_others();
    sent_ = sent;
    EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kPasses);
    EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kPasses);
    EXPECT_EQ(hits(IdsCounter::kLostParser), 1u);
    EXPECT_EQ(hits(IdsCounter::kGivenUp), 1u);
  }
}

TEST_F(FlowWatchMemoryTest, OneThatWantsAllOfItIsMadeAnewEachTime) {
  std::string requests;
  for (int i = 0; i < 900; ++i) requests += "GET / HTTP/1.1\r\n\r\n";
  use(kDropsPage, {{"parser_mb", "1"}, {"history_kb", "64"}});
  open();
  for (const int fate : client_in_pieces(requests, 1400)) EXPECT_EQ(fate, kPasses);
  EXPECT_GT(hits(IdsCounter::kMadeRoom), 2u);
  EXPECT_EQ(client("GET /sec"), kPasses);
  EXPECT_EQ(client("ret HTTP/1.1\r\n\r\n"), kByRule);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
}

TEST_F(FlowWatchMemoryTest, MoreConnectionsThanItKnowsTakeTheOldest) {
  use(kDropsPage, {{"history_kb", "1"}}, "20000");
  begin_body(40'000);
  const auto sent = sent_;
  for (std::uint32_t i = 0; i < FlowWatch::kFlowsMax; ++i) {
    const auto port = static_cast<std::uint16_t>(1000 + i);
    open(port);
    ASSERT_EQ(client("GET", port), kPasses);
  }
  EXPECT_EQ(hits(IdsCounter::kMadeRoom), 1u);
  sent_ = sent;
  EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kCostly);
  EXPECT_EQ(client("x"), kByRule);
}

/// The stream would begin with it, so what had been read of it is read once more.
TEST_F(FlowWatchMemoryTest, WithoutRoomForItsStreamNoDataPass) {
  use(kDropsPage, {{"streams", "1"}});
  open();
  EXPECT_EQ(send(segment(false, kAck, first_ + 5, kServer + 1, "ahead")), kPasses);
  open(40'001);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client("GET /secret HT", 40'001), kFull);
  EXPECT_EQ(hits(StreamCounter::kNoRoom), 3u);
  send(segment(true, kRst | kAck, kServer + 1, first_ + 1));
  int fate = kFull;
  for (int i = 0; i < 100 && fate == kFull; ++i) {
    now_s_ += 10;
    fate = client("GET /secret HT", 40'001);
  }
  EXPECT_EQ(fate, kPasses);
  EXPECT_EQ(client("TP/1.1\r\nHost: a\r\n\r\n", 40'001), kByRule);
  EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
}

}  // namespace
}  // namespace millrace
