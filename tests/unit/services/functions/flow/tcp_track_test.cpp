// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_track.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/flow/tcp_script.hpp"

namespace millrace {
namespace {

using tcp_script::play;
using std::string_literals::operator""s;

constexpr TcpTimeouts kTimes = {};

const std::string kOpen = R"(
> S 100 = fine syn_sent
< SA 500 ack 101 = fine syn_recv
> A 101 ack 501 = fine established
)";

TEST(TcpTrack, OpensTalksAndCloses) {
  const TcpTrack track = play(kOpen + R"(
> PA 101+100 ack 501 = fine established
< A 501 ack 201 = fine established
< PA 501+50 ack 201 = fine established
> A 201 ack 551 = fine established
> FA 201 ack 551 = fine fin_wait
< A 551 ack 202 = fine close_wait
< FA 551 ack 202 = fine last_ack
> A 202 ack 552 = fine time_wait
)");
  EXPECT_TRUE(is_assured(track));
  EXPECT_FALSE(is_unacknowledged(track));
  EXPECT_EQ(tcp_timeout_s(track, kTimes), 120u);
}

TEST(TcpTrack, BeginsWithASynOrInTheMiddle) {
  play("> S 100 = fine syn_sent");
  play("> A 100 ack 7 = fine established");
  for (const char* const flags : {"SA", "FA", "R", "RA"}) {
    play("> "s + flags + " 100 ack 7 = invalid none");
  }
  play("> A 100 ack 7 = invalid none", {.pickup = false});
  play("> S 100 = fine syn_sent", {.pickup = false});
}

TEST(TcpTrack, IsAnsweredBySegmentsThatAreBelieved) {
  EXPECT_FALSE(is_answered(play("> S 100 = fine syn_sent")));
  EXPECT_FALSE(is_answered(play("> S 100 = fine syn_sent\n< FA 7 ack 101 = invalid syn_sent")));
  EXPECT_TRUE(is_answered(play("> S 100 = fine syn_sent\n< SA 7 ack 101 = fine syn_recv")));
}

TEST(TcpTrack, APickedUpConnectionHasNoWindowsAndIsAssuredOnceAnswered) {
  TcpTrack track = play("> A 100+10 ack 7 = fine established");
  EXPECT_EQ(tcp_timeout_s(track, kTimes), 300u) << "one side alone";
  track = play(R"(
> A 100+10 ack 7 = fine established
< A 7+500 ack 110 = fine established
> A 900000 ack 507 = fine established
)");
  EXPECT_TRUE(is_assured(track));
}

TEST(TcpTrack, LiberalLetsAnyWindowPassButNoBadReset) {
  play(kOpen + "> A 900000+10 ack 501 = invalid established");
  play(kOpen + "> A 900000+10 ack 501 = fine established\n> R 4294960000 = invalid established",
       {.liberal = true});
}

TEST(TcpTrack, WhoOnlyRepeatsHisSynDoesNotProlongIt) {
  play(
      "> S 100 = fine syn_sent\n> S 100 = ignored syn_sent\n> S 900 = ignored syn_sent\n"
      "< SA 5 ack 901 = fine syn_recv");
}

TEST(TcpTrack, AResetBeforeAnyAnswerEndsTheFlow) {
  play("> S 100 = fine syn_sent\n< RA 0 ack 101 = over close");
  play("> S 100 = fine syn_sent\n> R 101 = over close");
}

TEST(TcpTrack, AResetCountsWithTheExactNumber) {
  const std::string talked = kOpen + R"(
> A 101+100 ack 501 = fine established
< A 501 ack 201 = fine established
> A 201 ack 501 = fine established
)";
  play(talked + "< R 501 = fine close");
  play(talked + "> R 201 = fine close");
  play(talked + "> R 200 = invalid established");
  play(talked + "> R 202 = fine established\n< A 501 ack 201 = fine established");
  play(talked + "> R 900000 = invalid established");
  play(talked + "> A 201+40 ack 501 = fine established\n> R 241 = fine close");
}

TEST(TcpTrack, AnInexactResetLeavesALittleTime) {
  const TcpTrack track =
      play(kOpen + "< A 501 ack 101 = fine established\n< R 600 = fine established");
  EXPECT_EQ(tcp_timeout_s(track, kTimes), 10u);
}

TEST(TcpTrack, BothSidesMayOpenIt) {
  play(R"(
> S 100 = fine syn_sent
< S 500 = ignored syn_sent2
> SA 100 ack 501 = fine syn_recv
< SA 500 ack 101 = ignored syn_recv
< A 501 ack 101 = fine established
> A 101+10 ack 501 = fine established
)");
}

TEST(TcpTrack, ASynInTheMiddlePassesAndItsAnswerSaysWhatItWas) {
  const std::string again = kOpen + "> S 7000 ws 4 sackok = ignored established\n";
  play(again + R"(
< A 501 ack 101 = fine established
> R 101 = fine close
> S 7000 = reopened close
)");
  const TcpTrack track = play(again + R"(
< SA 9000 ack 7001 ws 5 sackok = fine syn_recv
> A 7001 ack 9001 win 60000 = fine established
< A 9001+100 ack 7001 = fine established
> A 7001+100 ack 9101 = fine established
)");
  EXPECT_EQ(track.side[0].scale, 5u);
  EXPECT_EQ(track.side[1].scale, 6u);
  play(again + "< RA 0 ack 7001 = fine close");
  play(again + "< RA 9000 ack 7002 = invalid established");
}

TEST(TcpTrack, AChallengeAckIsNotTheLastAck) {
  const std::string closing = kOpen + R"(
< FA 501 ack 101 = fine fin_wait
> FA 101 ack 501 = fine last_ack
)";
  play(closing + "< A 502 ack 102 = fine time_wait");
  play(closing +
       "> S 7000 = ignored last_ack\n< A 502 ack 101 = ignored last_ack\n"
       "> R 101 = fine close");
}

TEST(TcpTrack, AHalfOpenConnectionIsResetByWhoDoesNotKnowIt) {
  play(R"(
> S 100 = fine syn_sent
< A 5000 ack 77 = ignored syn_sent
> R 77 = fine close
> S 100 = reopened close
)");
}

TEST(TcpTrack, AClosedConnectionIsOpenedAnewFromBothSides) {
  const std::string closed = kOpen + R"(
> FA 101 ack 501 = fine fin_wait
< FA 501 ack 102 = fine last_ack
> A 102 ack 502 = fine time_wait
)";
  play(closed + "> S 9000 = reopened time_wait");
  play(closed + "< S 9000 = reopened time_wait");
  play(kOpen + "< R 501 = fine close\n> S 9000 = ignored close\n< S 9000 = invalid close");
}

TEST(TcpTrack, FlagsOfNoTcpAreMalformed) {
  for (const char* const flags : {"FPU", "F", "SF", "SR", "-", "FSRPAU", "P", "U"}) {
    play(kOpen + "> " + flags + " 101 ack 501 = malformed");
  }
}

TEST(TcpTrack, SequenceNumbersGoOnBehindTheHighest) {
  play(R"(
> S 4294967290 = fine syn_sent
< SA 4294967295 ack 4294967291 = fine syn_recv
> A 4294967291 ack 0 = fine established
> A 4294967291+100 ack 0 = fine established
< A 0 ack 95 = fine established
< A 0+10 ack 95 = fine established
> A 95 ack 11 = invalid established
> A 95 ack 10 = fine established
)");
}

TEST(TcpTimeouts, AreShorterWhileSomethingIsMissing) {
  EXPECT_EQ(tcp_timeout_s(play("> S 100 = fine syn_sent"), kTimes), 120u);
  EXPECT_EQ(tcp_timeout_s(play(kOpen), kTimes), 432000u);
  const std::string sent = kOpen + "> A 101+10 ack 501 = fine established\n";
  EXPECT_EQ(tcp_timeout_s(play(sent), kTimes), 300u);
  EXPECT_EQ(tcp_timeout_s(play(sent + "< A 501 ack 111 = fine established"), kTimes), 432000u);
}

TEST(TcpTimeouts, TheSameAckThreeTimesIsARetransmission) {
  std::string script = kOpen + "< A 501 ack 101 = fine established\n";
  EXPECT_EQ(tcp_timeout_s(play(script), kTimes), 432000u);
  for (int i = 0; i < 3; ++i) script += "< A 501 ack 101 = fine established\n";
  EXPECT_EQ(tcp_timeout_s(play(script), kTimes), 300u);
  EXPECT_EQ(tcp_timeout_s(play(script + "< A 501+1 ack 101 = fine established\n"
                                        "> A 101 ack 502 = fine established\n"),
                          kTimes),
            432000u);
}

TEST(TcpTimeouts, AClosedWindowIsWaitedFor) {
  EXPECT_EQ(tcp_timeout_s(play(kOpen + "< A 501 ack 101 win 0 = fine established"), kTimes), 300u);
}

}  // namespace
}  // namespace millrace
