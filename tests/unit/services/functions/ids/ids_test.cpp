// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/packet_call.hpp"

namespace millrace {
namespace {

using IdsTest = IdsStage;

constexpr std::uint8_t kPush = 8;
constexpr char kDropWord[] =
    "drop tcp any any -> any 80 (msg:\"word\"; content:\"forbidden\"; sid:1;)\n";
constexpr char kAlertWord[] =
    "alert tcp any any -> any 80 (msg:\"word\"; content:\"forbidden\"; sid:1;)\n";

TEST_F(IdsTest, AWordOverSegmentsIsDroppedAndItsFlowWithIt) {
  use(kDropWord);
  open();
  EXPECT_EQ(client("a forb"), kPasses);
  EXPECT_EQ(client("idden word"), kByRule);
  EXPECT_EQ(client("idden word"), kByRule);  // sent once more
  EXPECT_EQ(client("other"), kByRule);
  EXPECT_EQ(server("answer"), kByRule);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(alerts(), 1u);
  EXPECT_EQ(send(segment(true, kRst | kAck, kServer + 1, first_ + 7)), kByRule);
  EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 4u);
  open(40'001);
  EXPECT_EQ(client("idden word", 40'001), kPasses);
}

TEST_F(IdsTest, AWordInOneSegmentCountsOnce) {
  use(kAlertWord);
  open();
  EXPECT_EQ(client("a forbidden word, a forbidden word"), kPasses);
  EXPECT_EQ(client("."), kPasses);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(client("forbidden"), kPasses);
  EXPECT_EQ(hits(0), 2u);
}

TEST_F(IdsTest, APacketOfUdpIsDroppedByItself) {
  use("drop udp any any -> any any (content:\"forbidden\"; sid:1;)\n");
  const auto udp = [](std::string_view text) {
    const auto bytes = static_cast<unsigned>(text.size());
    return FrameBuilder().ipv4(17, 8 + bytes).udp(bytes).text(text).build();
  };
  EXPECT_EQ(send(udp("forbidden")), kByRule);
  EXPECT_EQ(send(udp("allowed")), kPasses);
  EXPECT_EQ(send(udp("forbidden")), kByRule);
  EXPECT_EQ(hits(0), 2u);
}

/// Its receiver takes as much as UDP's length says.
TEST_F(IdsTest, BytesBehindADatagramOfUdpAreNotItsData) {
  use("drop udp any any -> any any (content:\"evil\"; content:!\"safe\"; sid:1;)\n"
      "alert udp any any -> any any (dsize:4; content:\"evil\"; endswith; sid:2;)\n");
  const Frame frame = FrameBuilder().ipv4(17, 8 + 8).udp(4).text("evilsafe").build();
  EXPECT_EQ(send(frame), kByRule);
  EXPECT_EQ(hits(1), 1u);
  EXPECT_EQ(send(FrameBuilder().ipv4(17, 8 + 8).udp(8).text("evilsafe").build()), kPasses);
}

TEST_F(IdsTest, RulesOfHeadersSeePacketsWithoutData) {
  use("drop tcp any any -> any 81 (flags:S; sid:1;)\n"
      "alert tcp any any -> any 80 (flags:S; sid:2;)\n");
  open();
  EXPECT_EQ(hits(1), 1u);
  EXPECT_EQ(hits(0), 0u);
}

TEST_F(IdsTest, AFlowThatPassesIsNotLookedAt) {
  use(std::string("pass tcp any any -> any 80 (content:\"token\"; sid:2;)\n") + kDropWord);
  open();
  EXPECT_EQ(client("to"), kPasses);
  EXPECT_EQ(client("ken"), kPasses);
  EXPECT_EQ(client("forbidden"), kPasses);
  EXPECT_EQ(server("forbidden"), kPasses);
  EXPECT_EQ(hits(IdsCounter::kPassedFlow), 2u);
  EXPECT_EQ(hits(1), 0u);
  EXPECT_EQ(alerts(), 0u);
}

TEST_F(IdsTest, AnotherConnectionWithTheSamePortsIsLookedAt) {
  use(std::string("pass tcp any any -> any 80 (content:\"token\"; sid:2;)\n") + kDropWord);
  open();
  EXPECT_EQ(client("token"), kPasses);
  EXPECT_EQ(client("forbidden"), kPasses);
  close();
  open();
  EXPECT_EQ(client("forbidden"), kByRule);
}

TEST_F(IdsTest, AnIdsDropsNothing) {
  use(kDropWord, {{"mode", "ids"}});
  open();
  EXPECT_EQ(client("a forb"), kPasses);
  EXPECT_EQ(client("idden word"), kPasses);
  EXPECT_EQ(client("more"), kPasses);
  EXPECT_EQ(hits(0), 1u);
  // Not even what is in conflict with what was there; the flag URG stays.
  const Frame other = segment(false, kAck | kUrg, first_ + 1, kServer + 1, "other");
  EXPECT_EQ(send(other), kPasses);
  const auto bytes = arena_.batch().bytes(0);
  EXPECT_EQ(Frame(bytes.begin(), bytes.end()), other);
  EXPECT_EQ(hits(StreamCounter::kConflicts), 1u);
}

TEST_F(IdsTest, TheUrgentFlagIsSeenByRulesAndTakenAway) {
  use("drop tcp any any -> any any (flags:FPU; sid:1;)\n"
      "alert tcp any any -> any any (flags:U+; sid:2;)\n");
  open();
  EXPECT_EQ(send(segment(false, kAck | kUrg, first_ + 1, kServer + 1)), kPasses);
  const auto bytes = arena_.batch().bytes(0);
  EXPECT_EQ(Frame(bytes.begin(), bytes.end()), segment(false, kAck, first_ + 1, kServer + 1));
  EXPECT_EQ(hits(1), 1u);
  EXPECT_EQ(send(segment(false, kUrg | kFin | kPush, 7, 0, {}, 40'001)), kByRule);
  EXPECT_EQ(hits(StreamCounter::kUrgent), 1u);
}

TEST_F(IdsTest, WhatFollowsADroppedFirstPacketIsDroppedWithoutAnAlert) {
  use("drop tcp any any -> any any (sid:1;)\n");
  EXPECT_EQ(send(segment(false, kSyn, first_, 0)), kByRule);
  EXPECT_EQ(send(segment(false, kSyn, first_, 0)), kByRule);
  EXPECT_EQ(send(segment(true, kSyn | kAck, kServer, first_ + 1)), kByRule);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(alerts(), 1u);
  EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 2u);
  EXPECT_EQ(send(segment(true, kAck, kServer + 1'000'000, first_ + 1, "invalid")), kByRule);
  EXPECT_EQ(hits(IdsCounter::kDroppedFlow), 3u);
}

TEST_F(IdsTest, WhileItLearnsRulesOnlyTell) {
  use(kDropWord, {{"learn", "true"}});
  open();
  EXPECT_EQ(client("forbidden"), kPasses);
  EXPECT_EQ(client("more"), kPasses);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(send(segment(false, kAck, first_ + 1, kServer + 1, "other")), kConflict);
}

TEST_F(IdsTest, WhatCannotBeReadDoesNotPass) {
  use(kAlertWord);
  EXPECT_EQ(send(segment(false, kSyn, first_, 0, "in a SYN")), kConflict);
  open();
  EXPECT_EQ(client("harmless"), kPasses);
  EXPECT_EQ(send(segment(false, kAck, first_ + 1, kServer + 1, "HARMLESS")), kConflict);
  EXPECT_EQ(hits(StreamCounter::kConflicts), 1u);
}

TEST_F(IdsTest, FlowbitsAreOfTheFlow) {
  use("alert tcp any any -> any 80 (content:\"login\"; flowbits:set,user; flowbits:noalert; "
      "sid:1;)\n"
      "drop tcp any 80 -> any any (content:\"welcome\"; flowbits:isset,user; sid:2;)\n");
  open();
  EXPECT_EQ(client("hello"), kPasses);
  EXPECT_EQ(server("welcome"), kPasses);
  EXPECT_EQ(client("login"), kPasses);
  EXPECT_EQ(server("you are welcome"), kByRule);
  EXPECT_EQ(alerts(), 1u);
  open(40'001);
  EXPECT_EQ(server("welcome", 40'001), kPasses);
}

TEST_F(IdsTest, FlowbitsOutliveAWorkerAndEndWithOtherNames) {
  constexpr char kSet[] =
      "alert tcp any any -> any 80 (content:\"login\"; flowbits:set,user; sid:1;)\n";
  constexpr char kAsk[] =
      "drop tcp any 80 -> any any (content:\"welcome\"; flowbits:isset,user; sid:2;)\n";
  use(std::string(kSet) + kAsk);
  open();
  EXPECT_EQ(client("login"), kPasses);
  EXPECT_EQ(client("login"), kPasses);
  die();
  sent_[0] -= 5;
  folder_.write("own.rules", std::string(kSet) + kAsk + kAlertWord);
  EXPECT_EQ(server("welcome"), kByRule);
  open(40'001);
  EXPECT_EQ(client("login", 40'001), kPasses);
  folder_.write("own.rules",
                "alert tcp any any -> any 80 (content:\"x\"; flowbits:set,other; sid:3;)\n"
                "drop tcp any 80 -> any any (content:\"welcome\"; flowbits:isset,other; sid:2;)\n");
  load();
  EXPECT_EQ(server("welcome", 40'001), kPasses);
}

TEST_F(IdsTest, FlowbitsEndWithTheirFlow) {
  use("alert tcp any any -> any 80 (content:\"login\"; flowbits:set,user; sid:1;)\n"
      "drop tcp any 80 -> any any (content:\"welcome\"; flowbits:isset,user; sid:2;)\n");
  open();
  EXPECT_EQ(client("login"), kPasses);
  close();
  open();
  EXPECT_EQ(server("welcome"), kPasses);
}

TEST_F(IdsTest, ThresholdsLimitWhatIsTold) {
  use("drop udp any any -> any any (content:\"a\"; threshold:type limit, track by_src, count 2, "
      "seconds 60; sid:1;)\n");
  const Frame frame = FrameBuilder().ipv4(17, 9).udp(1).text("a").build();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(send(frame), kByRule);
  EXPECT_EQ(hits(0), 5u);
  EXPECT_EQ(alerts(), 2u);
  now_s_ += 60;
  EXPECT_EQ(send(frame), kByRule);
  EXPECT_EQ(alerts(), 3u);
}

TEST_F(IdsTest, SuppressedRulesDropWithoutATold) {
  const std::string file = folder_.write("threshold.config", "suppress gen_id 1, sig_id 1\n");
  use(kDropWord, {{"thresholds", file}});
  open();
  EXPECT_EQ(client("forbidden"), kByRule);
  EXPECT_EQ(alerts(), 0u);
  EXPECT_EQ(hits(0), 1u);
}

/// A word in two segments, and a death of the worker at each of them.
TEST_F(IdsTest, AWorkerThatDiesLosesNoBeginOfAWord) {
  use(kDropWord);
  open();
  EXPECT_EQ(client("a forb"), kPasses);
  EXPECT_EQ(client("id"), kPasses);
  die();  // "id" has not passed
  sent_[0] -= 2;
  EXPECT_EQ(client("idd"), kPasses);
  EXPECT_EQ(client("other"), kPasses);
  die();
  sent_[0] -= 5;
  EXPECT_EQ(client("en"), kByRule);
  EXPECT_EQ(hits(0), 1u);
}

TEST_F(IdsTest, AWorkerThatDiesForgetsTheVerdictOfItsBatch) {
  use(kDropWord);
  open();
  EXPECT_EQ(client("forbidden"), kByRule);
  die();
  EXPECT_EQ(client("harmless"), kPasses);
  EXPECT_EQ(client("forbidden"), kByRule);
  EXPECT_EQ(client("x"), kByRule);
  start();
  EXPECT_EQ(client("x"), kByRule);
}

/// A rule of several contents waits over segments, also for a worker that begins anew.
TEST_F(IdsTest, ARuleThatWaitsIsMadeAnew) {
  use("drop tcp any any -> any 80 (content:\"begin\"; content:\"end\"; distance:10; sid:1;)\n");
  open();
  EXPECT_EQ(client("begin ----"), kPasses);
  EXPECT_EQ(client("---------- "), kPasses);
  start();
  EXPECT_EQ(client(" end"), kByRule);
}

TEST_F(IdsTest, ARejectTellsBothEnds) {
  use("rejectboth tcp any any -> any 80 (content:\"forbidden\"; sid:1;)\n");
  open();
  EXPECT_EQ(client("forbidden"), kPasses);
  const Frame now(arena_.batch().bytes(0).begin(), arena_.batch().bytes(0).end());
  EXPECT_EQ(wire_bytes::u8(now, kTcpAt + 13), kRst | kAck);
  EXPECT_EQ(now.size(), kTcpAt + 20);
  EXPECT_EQ(arena_.batch().side.records().size(), 1u);
  EXPECT_EQ(hits(IdsCounter::kReset), 1u);
  EXPECT_EQ(client("more"), kByRule);
}

constexpr char kDropPage[] =
    "drop http any any -> any any (flow:to_server; http.uri; content:\"/secret\"; sid:1;)\n";

TEST_F(IdsTest, ARequestIsRead) {
  use(kDropPage);
  open();
  EXPECT_EQ(client("GET /%73ec"), kPasses);
  EXPECT_EQ(client("ret HTTP/1.1\r\nHost: a\r\n\r\n"), kByRule);
  EXPECT_EQ(hits(0), 1u);
  EXPECT_EQ(client("x"), kByRule);
}

/// A request in pieces of each size; the worker dies in front of each piece, or behind.
TEST_F(IdsTest, ARequestIsReadByWorkersThatDie) {
  constexpr char kFirst[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
  constexpr char kAnswer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  constexpr std::string_view kSecond = "GET /secret HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::uint16_t cut = 1; cut < 20; ++cut) {
    SCOPED_TRACE(cut);
    use(kDropPage);
    open();
    EXPECT_EQ(client(kFirst), kPasses);
    EXPECT_EQ(server(kAnswer), kPasses);
    bool dropped = false;
    for (std::size_t at = 0; at < kSecond.size() && !dropped; at += cut) {
      start();
      const std::string_view piece = kSecond.substr(at, cut);
      EXPECT_NE(client(piece), kConflict);
      die();
      sent_[0] = static_cast<std::uint32_t>(sizeof kFirst - 1 + at);
      const int fate = client(piece);
      dropped = fate == kByRule;
      ASSERT_TRUE(dropped || fate == kPasses);
    }
    EXPECT_TRUE(dropped);
    EXPECT_EQ(hits(IdsCounter::kLostParser), 0u);
  }
}

TEST_F(IdsTest, AnswersMeetFlowbitsOfQuestions) {
  use("alert http any any -> any any (flow:to_server; http.uri; content:\"/a\"; flowbits:set,a; "
      "flowbits:noalert; sid:1;)\n"
      "drop http any any -> any any (flow:to_client; http.stat_code; content:\"404\"; "
      "flowbits:isset,a; sid:2;)\n");
  constexpr char kAnswer[] = "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
  open();
  EXPECT_EQ(client("GET /b HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
  EXPECT_EQ(server(kAnswer), kPasses);
  EXPECT_EQ(client("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
  start();
  EXPECT_EQ(server(kAnswer), kByRule);
}

TEST_F(IdsTest, QuestionsOfDnsAreReadByPacket) {
  use("drop dns any any -> any any (dns.query; content:\"example\"; sid:1;)\n");
  const auto question = [](std::string_view name) {
    std::string text("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
    text += static_cast<char>(name.size());
    text += std::string(name) + std::string("\x00\x00\x01\x00\x01", 5);
    const auto bytes = static_cast<unsigned>(text.size());
    return FrameBuilder().ipv4(17, 8 + bytes).udp(bytes, 5000, 53).text(text).build();
  };
  EXPECT_EQ(send(question("other")), kPasses);
  EXPECT_EQ(send(question("example")), kByRule);
  EXPECT_EQ(hits(0), 1u);
}

TEST_F(IdsTest, WhatBeginsBehindAMatchIsMadeAnewToo) {
  use("alert tcp any any -> any 80 (content:\"begin\"; content:\"end\"; distance:2; within:20; "
      "sid:1;)\n");
  open();
  EXPECT_EQ(client("begin -- end"), kPasses);
  EXPECT_EQ(client(std::string(100, '-')), kPasses);
  EXPECT_EQ(client("begin -"), kPasses);
  EXPECT_EQ(hits(0), 1u);
  start();
  EXPECT_EQ(client("- end"), kPasses);
  EXPECT_EQ(hits(0), 2u);
}

TEST_F(IdsTest, WithoutRoomForItsFlowNoDataPasses) {
  use(kAlertWord, {{"streams", "1"}});
  open();
  EXPECT_EQ(client("a"), kPasses);
  open(40'001);
  EXPECT_EQ(client("a", 40'001), kFull);
  EXPECT_EQ(hits(StreamCounter::kNoRoom), 1u);
}

TEST_F(IdsTest, WhatHidesItsPayloadDoesNotPass) {
  use("drop udp any any -> any any (content:\"forbidden\"; sid:1;)\n");
  const Frame frame = frame_of_hex(kNineExtensionsUdpFrame);
  EXPECT_EQ(send(frame), kConflict);
  EXPECT_EQ(hits(IdsCounter::kHidden), 1u);
  use("drop udp any any -> any any (content:\"forbidden\"; sid:1;)\n", {{"mode", "ids"}});
  EXPECT_EQ(send(frame), kPasses);
}

TEST_F(IdsTest, FragmentsPassWhereTheyMay) {
  constexpr char kRule[] = "drop udp any any -> any any (content:\"xx\"; sid:1;)\n";
  const Frame later = frame_of_hex(kLaterFragmentFrame);
  use(kRule, {{"fragments", "drop"}});
  EXPECT_EQ(send(later), kConflict);
  EXPECT_EQ(hits(IdsCounter::kHidden), 1u);
  use(kRule, {{"fragments", "pass"}});
  EXPECT_EQ(send(later), kByRule);
  EXPECT_EQ(send(frame_of_hex(kTinyFragmentTcpFrame)), kConflict);
}

TEST_F(IdsTest, WhatIsRefusedIsReported) {
  use("drop tcp any any -> any 80 (content:\"x\"; sid:1;)\nalert tcp any any -> any 80 "
      "(no_such_keyword:1; sid:2;)\n");
  EXPECT_EQ(report_.accepted, 1u);
  EXPECT_EQ(report_.refused, 1u);
  ASSERT_EQ(report_.refusals.size(), 1u);
  EXPECT_NE(report_.refusals[0].find("own.rules:2: sid 2: no_such_keyword"), std::string::npos)
      << report_.refusals[0];
}

}  // namespace
}  // namespace millrace
