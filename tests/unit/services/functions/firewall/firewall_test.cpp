// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/firewall/firewall_stage.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Frame arp() { return FrameBuilder().type(0x0806).padding(28).build(); }

constexpr char kEdge[] =
    "pass ip any -> any state established,related\n"
    "pass ip any -> any in lan state new\n"
    "pass udp any -> any port 53 in wan\n";

TEST(Firewall, AnswersPassWhereNothingElseDoes) {
  FirewallStage stage(kEdge);
  const Frame question = udp(5000, 7);
  EXPECT_EQ(stage.send(kWan, {answer(question)}), "-") << "nobody asked";
  EXPECT_EQ(stage.send(kLan, {question}), "+");
  EXPECT_EQ(stage.send(kWan, {answer(question)}), "+");
  EXPECT_EQ(stage.send(kWan, {udp(9, 53), udp(9, 54)}), "+-");
  EXPECT_THAT(stage.hits, ElementsAre(1, 1, 1, 2, 0, 0, 0));
}

TEST(Firewall, WhatIsDroppedMakesNoFlow) {
  FirewallStage stage(kEdge);
  const Frame intruder = udp(9, 54);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(stage.send(kWan, {intruder}), "-");
  EXPECT_EQ(stage.send(kLan, {answer(intruder)}), "+") << "a flow of its own";
  EXPECT_EQ(stage.hits[0], 0u);
}

TEST(Firewall, NeverFailsOpen) {
  FirewallStage stage("pass udp any -> any state new\n");
  Frame cut = udp(5000, 7);
  cut.resize(30);
  const Frame later = FrameBuilder().ipv4(17, 16, 20, 3).padding(16).build();
  const Frame hidden = FrameBuilder().ipv4(6, 8, 20, 0x2000).padding(8).build();
  EXPECT_EQ(stage.send(kLan, {arp(), cut, later, hidden, Frame()}), "-----");
  EXPECT_THAT(stage.hits, ElementsAre(0, 2, 2, 0, 1));
  FirewallStage open("", {{"default", "pass"}, {"non_ip", "pass"}});
  EXPECT_EQ(open.send(kLan, {arp(), cut, later, hidden}), "+++-");
}

TEST(Firewall, ARuleAboveItsLimitIsPassedOver) {
  FirewallStage stage(
      "pass udp any -> any limit 1/second burst 2 name some\n"
      "drop udp any -> any port 7\n"
      "pass udp any -> any port 8\n");
  EXPECT_EQ(stage.send(kLan, {udp(1, 7), udp(2, 7), udp(3, 7), udp(4, 8)}), "++-+");
  stage.now_ns += 1'000'000'000;
  EXPECT_EQ(stage.send(kLan, {udp(5, 7), udp(6, 7)}), "+-");
  EXPECT_THAT(stage.hits, ElementsAre(3, 2, 1, 0, 0, 0, 0));
}

TEST(Firewall, AnAlertGoesOnToTheNextRule) {
  FirewallStage stage("alert udp any -> any port 7\npass udp any -> any\n");
  EXPECT_EQ(stage.send(kLan, {udp(1, 7), udp(2, 8)}), "++");
  EXPECT_THAT(stage.hits, ElementsAre(1, 2, 0, 0, 0, 0));
}

TEST(Firewall, ReportsLinesThatAreLeftOutAndRefusesFilesThatWouldOpen) {
  const FirewallStage stage("pass ip any -> any in dmz\ndrop ip any -> any\n");
  EXPECT_EQ(stage.report.accepted, 1u);
  EXPECT_THAT(stage.report.refusals, ElementsAre(HasSubstr("'dmz' is no port")));
  EXPECT_THROW(FirewallStage("drop ip any -> any in dmz\n"), Error);
}

}  // namespace
}  // namespace millrace
