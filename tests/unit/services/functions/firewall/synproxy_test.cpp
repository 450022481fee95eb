// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/synproxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/services/functions/firewall/firewall_stage.hpp"
#include "tests/unit/services/functions/firewall/tcp_frames.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr char kProxied[] =
    "pass ip any -> any state established,related\n"
    "synproxy tcp any -> any port 80 mss 1400 wscale 5 sack-perm timestamp\n";

constexpr std::uint32_t kClient = 0xffff'fff0;  // its numbers wrap soon
constexpr std::uint32_t kServer = 5'000'000;

std::uint32_t number_at(const std::vector<unsigned>& bytes, std::size_t at) {
  return bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
}

/// A client and a server on both sides of a stage, and what each of them is told.
struct Hosts {
  explicit Hosts(FirewallStage& of_stage, unsigned of_port = 40000, bool over_ipv6 = false)
      : stage(of_stage), port(of_port), is_ipv6(over_ipv6) {}

  std::string from_client(const Segment& segment) {
    return stage.send(kLan, {tcp_frame(segment, true, port, is_ipv6)});
  }
  std::string from_server(const Segment& segment) {
    return stage.send(kWan, {tcp_frame(segment, false, port, is_ipv6)});
  }
  Segment out() const { return segment_in(stage.left.at(0)); }

  /// Up to the cookie.
  void ask(const std::vector<unsigned>& options) {
    ASSERT_EQ(from_client({.sequence = kClient, .flags = "S", .options = options}), "<");
    told = out();
    ASSERT_EQ(told.flags, "SA");
    cookie = told.sequence;
    if (told.options.size() > 16) cookie_time = number_at(told.options, 8);
  }
  std::vector<unsigned> time(std::uint32_t value, std::uint32_t echo) const {
    return cookie_time == 0 ? std::vector<unsigned>{} : timestamp_option(value, echo);
  }
  Segment proof() const {
    return {.sequence = kClient + 1,
            .acknowledgment = cookie + 1,
            .flags = "A",
            .window = 2000,
            .options = time(71, cookie_time)};
  }
  Segment consent(const std::vector<unsigned>& options) const {
    return {.sequence = kServer,
            .acknowledgment = kClient + 1,
            .flags = "SA",
            .window = 60000,
            .options = options};
  }
  /// Up to the open connection, with all options.
  void open() {
    ask(syn_options(70, 0, 7));
    ASSERT_EQ(from_client(proof()), "+");
    ASSERT_EQ(from_server(consent(syn_options(900, 71, 9))), "+");
  }

  FirewallStage& stage;
  unsigned port;
  bool is_ipv6;
  Segment told;
  std::uint32_t cookie = 0, cookie_time = 0;
};

TEST(Synproxy, ASynIsAnsweredAndLeavesNothing) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  const Frame before = tcp_frame({.sequence = kClient, .flags = "S"}, true);
  hosts.ask(syn_options(70, 0, 7));
  const std::uint32_t time = hosts.cookie_time;
  EXPECT_EQ(time & 63, 16u + 7) << "SACK, and the client's scale";
  EXPECT_EQ(hosts.told, (Segment{.sequence = hosts.cookie,
                                 .acknowledgment = kClient + 1,
                                 .flags = "SA",
                                 .window = 0,
                                 .options = syn_options(time, 70, 5, 1400)}));
  const Frame back = reversed(before, parse_headers(before));
  EXPECT_TRUE(std::equal(back.begin(), back.begin() + 14, stage.left[0].begin()))
      << "MAC addresses";
  EXPECT_TRUE(std::equal(back.begin() + 26, back.begin() + 38, stage.left[0].begin() + 26));
  EXPECT_EQ(stage.flows(), 0u);
  EXPECT_THAT(stage.hits, ElementsAre(0, 1, 0, 0, 0, 0, 1, 0, 0, 0));
}

TEST(Synproxy, WithoutTimestampsTheCookieHasTheMssAlone) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  hosts.ask({2, 4, 5, 180, 4, 2, 1, 1, 1, 3, 3, 7});  // 1460, SACK, scale
  EXPECT_THAT(hosts.told.options, ElementsAre(2, 4, 1400 / 256, 1400 % 256));
  EXPECT_EQ(hosts.from_client(hosts.proof()), "+");
  EXPECT_EQ(hosts.out(), (Segment{.sequence = kClient,
                                  .acknowledgment = 0,
                                  .flags = "S",
                                  .window = 2000,
                                  .options = {2, 4, 5, 180}}));
}

TEST(Synproxy, ACookieThatComesBackOpensTheConnection) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  hosts.ask(syn_options(70, 0, 7));
  ASSERT_EQ(hosts.from_client(hosts.proof()), "+");
  EXPECT_EQ(hosts.out(), (Segment{.sequence = kClient,
                                  .acknowledgment = 0,
                                  .flags = "S",
                                  .window = 65535,  // 2000 << 7 is more
                                  .options = syn_options(71, 0, 7)}));
  EXPECT_EQ(stage.flows(), 1u);
  ASSERT_EQ(hosts.from_server(hosts.consent(syn_options(900, 71, 9))), "+");
  EXPECT_EQ(hosts.out(), (Segment{.sequence = hosts.cookie + 1,
                                  .acknowledgment = kClient + 1,
                                  .flags = "A",
                                  .window = 60000 >> 5,
                                  .options = timestamp_option(hosts.cookie_time, 71)}));
  ASSERT_THAT(stage.sent, SizeIs(1));
  EXPECT_EQ(segment_in(stage.sent[0]), (Segment{.sequence = kClient + 1,
                                                .acknowledgment = kServer + 1,
                                                .flags = "A",
                                                .window = 2000,
                                                .options = timestamp_option(71, 900)}));
  EXPECT_THAT(stage.hits, ElementsAre(1, 2, 0, 0, 0, 0, 1, 1, 0, 0));
}

TEST(Synproxy, NumbersTimesAndWindowsAreTranslatedBothWays) {
  for (const bool is_ipv6 : {false, true}) {
    FirewallStage stage(kProxied);
    Hosts hosts(stage, 40000, is_ipv6);
    hosts.open();
    const std::uint32_t cookie = hosts.cookie;
    ASSERT_EQ(hosts.from_server({.sequence = kServer + 1,
                                 .acknowledgment = kClient + 1,
                                 .flags = "PA",
                                 .window = 100,
                                 .options = timestamp_option(905, 71),
                                 .data = 101}),
              "+");
    EXPECT_EQ(hosts.out(), (Segment{.sequence = cookie + 1,
                                    .acknowledgment = kClient + 1,
                                    .flags = "PA",
                                    .window = (100 << 9) >> 5,
                                    .options = timestamp_option(hosts.cookie_time + 5, 71),
                                    .data = 101}));
    const auto options = [&](std::uint32_t numbers, std::uint32_t echo) {
      // The block of SACK stands at an odd place.
      std::vector<unsigned> out = {1, 5, 10};
      for (const std::uint32_t edge : {numbers + 202, numbers + 303}) {
        for (int shift = 24; shift >= 0; shift -= 8) out.push_back(edge >> shift & 255);
      }
      const std::vector<unsigned> time = timestamp_option(80, echo);
      out.insert(out.end(), {1, 1, 1});
      out.insert(out.end(), time.begin() + 2, time.end());
      return out;
    };
    ASSERT_EQ(hosts.from_server({.sequence = kServer + 202,
                                 .acknowledgment = kClient + 1,
                                 .flags = "A",
                                 .options = timestamp_option(906, 71),
                                 .data = 101}),
              "+");
    ASSERT_EQ(hosts.from_client({.sequence = kClient + 1,
                                 .acknowledgment = cookie + 102,
                                 .flags = "A",
                                 .window = 1500,
                                 .options = options(cookie, hosts.cookie_time + 6),
                                 .data = 9}),
              "+");
    EXPECT_EQ(hosts.out(), (Segment{.sequence = kClient + 1,
                                    .acknowledgment = kServer + 102,
                                    .flags = "A",
                                    .window = 1500,
                                    .options = options(kServer, 906),
                                    .data = 9}));
  }
}

TEST(Synproxy, WhatBringsNoCookieIsDroppedAndMakesNoFlow) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  hosts.ask(syn_options(70, 0, 7));
  Segment wrong = hosts.proof();
  wrong.acknowledgment += 8;
  EXPECT_EQ(hosts.from_client(wrong), "-");
  Segment other = hosts.proof();
  other.sequence += 8;
  EXPECT_EQ(hosts.from_client(other), "-");
  EXPECT_EQ(Hosts(stage, 40001).from_client(hosts.proof()), "-") << "of another port";
  for (const char* const flags : {"R", "FA", "SA", "RA", "FSA"}) {
    Segment odd = hosts.proof();
    odd.flags = flags;
    EXPECT_EQ(hosts.from_client(odd), "-") << flags;
  }
  Frame broken = tcp_frame(hosts.proof(), true);
  broken[50] ^= std::byte{1};  // its checksum
  EXPECT_EQ(stage.send(kLan, {broken}), "-");
  EXPECT_EQ(stage.flows(), 0u);
  EXPECT_EQ(stage.hits[8], 9u);
  stage.now_ns += 3 * 64'000'000'000;
  EXPECT_EQ(hosts.from_client(hosts.proof()), "-") << "too old";
  EXPECT_EQ(stage.hits[7], 0u);
}

TEST(Synproxy, AFloodLeavesTheTableAsItIs) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage, 999);
  hosts.open();
  for (unsigned port = 1000; port < 3000; port += 50) {
    std::vector<Frame> flood;
    for (unsigned i = 0; i < 50; ++i) {
      flood.push_back(tcp_frame({.sequence = port, .flags = "S"}, true, port + i));
      if (i % 10 == 0) flood.push_back(flood.back());  // twice in a batch
    }
    EXPECT_EQ(stage.send(kLan, flood), std::string(flood.size(), '<'));
  }
  EXPECT_EQ(stage.flows(), 1u);
  EXPECT_EQ(hosts.from_client({.sequence = kClient + 1,
                               .acknowledgment = hosts.cookie + 1,
                               .flags = "PA",
                               .options = timestamp_option(72, hosts.cookie_time),
                               .data = 10}),
            "+");
}

TEST(Synproxy, AClientThatShowsItsCookieAgainAsksTheServerAgain) {
  for (const char* const pickup : {"true", "false"}) {
    FirewallStage stage(kProxied, {}, {{"pickup", pickup}});
    Hosts hosts(stage);
    hosts.ask(syn_options(70, 0, 7));
    const Frame proof = tcp_frame(hosts.proof(), true);
    EXPECT_TRUE(stage.send(kLan, {proof, proof}).starts_with("+"));
    Segment probe = hosts.proof();
    probe.sequence = kClient;
    EXPECT_EQ(hosts.from_client(probe), "+");
    EXPECT_EQ(hosts.out().sequence, kClient);
    EXPECT_EQ(hosts.out().flags, "S");
    probe.acknowledgment += 5;
    EXPECT_EQ(hosts.from_client(probe), "-");
    EXPECT_EQ(stage.flows(), 1u);
    EXPECT_EQ(hosts.from_server(hosts.consent(syn_options(900, 71, 9))), "+");
    EXPECT_EQ(hosts.from_server(hosts.consent(syn_options(901, 71, 9))), "+") << "once more";
    EXPECT_THAT(stage.sent, SizeIs(1));
    EXPECT_EQ(hosts.out().sequence, hosts.cookie + 1);
    Segment another = hosts.consent(syn_options(901, 71, 9));
    another.sequence += 4;
    EXPECT_EQ(hosts.from_server(another), "-");
  }
}

TEST(Synproxy, ARefusalOfTheServerReachesTheClient) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  hosts.ask(syn_options(70, 0, 7));
  ASSERT_EQ(hosts.from_client(hosts.proof()), "+");
  ASSERT_EQ(
      hosts.from_server({.sequence = 0, .acknowledgment = kClient + 1, .flags = "RA", .window = 0}),
      "+");
  EXPECT_EQ(hosts.out().sequence, hosts.cookie + 1);
  EXPECT_EQ(hosts.out().flags, "RA");
}

TEST(Synproxy, AServerWithoutScalesGetsWindowsAsTheyAre) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  hosts.ask(syn_options(70, 0, 2));
  ASSERT_EQ(hosts.from_client(hosts.proof()), "+");
  ASSERT_EQ(hosts.from_server(hosts.consent({2, 4, 5, 180})), "+");
  EXPECT_EQ(segment_in(stage.sent.at(0)).window, 8000u);
  ASSERT_EQ(hosts.from_client({.sequence = kClient + 1,
                               .acknowledgment = hosts.cookie + 1,
                               .flags = "A",
                               .window = 500,
                               .data = 3}),
            "+");
  EXPECT_EQ(hosts.out().window, 2000u);
  ASSERT_EQ(hosts.from_server({.sequence = kServer + 1,
                               .acknowledgment = kClient + 4,
                               .flags = "A",
                               .window = 3200,
                               .data = 1}),
            "+");
  EXPECT_EQ(hosts.out().window, 100u);
}

TEST(Synproxy, ADeathTakesBackItsBatchAlone) {
  FirewallStage stage(kProxied);
  Hosts hosts(stage);
  hosts.ask(syn_options(70, 0, 7));
  ASSERT_EQ(hosts.from_client(hosts.proof()), "+");
  ASSERT_TRUE(stage.take_back());
  EXPECT_EQ(hosts.from_server(hosts.consent(syn_options(900, 71, 9))), "-");
  stage.load(kProxied);  // another worker
  ASSERT_EQ(hosts.from_client(hosts.proof()), "+") << "its secret is the lane's";
  ASSERT_EQ(hosts.from_server(hosts.consent(syn_options(900, 71, 9))), "+");
  ASSERT_TRUE(stage.take_back());
  stage.load("pass ip any -> any state established,related\n");
  ASSERT_EQ(hosts.from_server(hosts.consent(syn_options(900, 71, 9))), "+");
  EXPECT_EQ(hosts.out().sequence, hosts.cookie + 1) << "also without the rule";
}

TEST(Synproxy, ItsPlacesComeBackWhenConnectionsEnd) {
  FirewallStage stage(kProxied, {{"proxied", "1"}});
  std::uint32_t opened = 0;
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned port = 100; port < 150; ++port) {
      Hosts hosts(stage, port);
      hosts.ask(syn_options(70, 0, 7));
      if (hosts.from_client(hosts.proof()) != "+") continue;
      ++opened;
      EXPECT_EQ(hosts.from_client({.sequence = kClient + 1, .flags = "R"}), "+");
    }
    EXPECT_EQ(stage.flows(), 0u);
  }
  EXPECT_EQ(opened, 150u);
  for (unsigned port = 100; port < 150; ++port) {
    Hosts hosts(stage, port);
    hosts.ask(syn_options(70, 0, 7));
    hosts.from_client(hosts.proof());
  }
  EXPECT_EQ(stage.flows() + stage.hits[9], 50u);
  EXPECT_GT(stage.hits[9], 0u) << "no room";
}

}  // namespace
}  // namespace millrace
