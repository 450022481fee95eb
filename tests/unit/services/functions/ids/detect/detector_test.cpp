// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "services/functions/ids/detect/prefilter.hpp"
#include "tests/unit/services/functions/ids/detect/memory_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/packet_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/rule_oracle.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Packet, by_hand::Rule;
using Numbers = std::vector<std::uint32_t>;

/// Rules, and the detector that looks for them.
struct Looking {
  explicit Looking(std::vector<Signature> of)
      : rules(std::move(of)), built(build_prefilter(rules)), detector(rules, built) {}
  Numbers at(const Packet& packet) {
    std::vector<MatchedRule> matched;
    detector.look_at_packet(packet.view(), memory, matched);
    Numbers numbers;
    for (const MatchedRule& rule : matched) {
      EXPECT_FALSE(rule.by_stream);
      EXPECT_EQ(rule.transaction, kNoTransaction);
      numbers.push_back(rule.signature);
    }
    return numbers;
  }

  std::vector<Signature> rules;
  std::vector<std::byte> built;
  Detector detector;
  by_hand::Memory memory;
};

TEST(Detector, PacketsMatchByPayloadAndByHeadersInTheOrderOfRules) {
  Signature small = Rule(RuleProtocol::kIp);
  small.packet.headers.push_back({HeaderField::kDataSize, {.low = 0, .high = 4}});
  Looking looking({Rule(RuleProtocol::kUdp).asks(content("abc")).fast(0, 0), small,
                   Rule(RuleProtocol::kTcp), Rule(RuleProtocol::kUdp).asks(content("a")).fast(0, 0),
                   Rule(RuleProtocol::kUdp)});
  EXPECT_EQ(looking.at(Packet::udp("-abc")), (Numbers{0, 1, 3, 4}));
  EXPECT_EQ(looking.at(Packet::udp("-abc-")), (Numbers{0, 3, 4}));
  EXPECT_EQ(looking.at(Packet::udp("")), (Numbers{1, 4}));
  EXPECT_EQ(looking.at(Packet::tcp("abc")), (Numbers{1, 2}));
}

/// A flow of which it is known which rules fit it, beside one of which nothing is kept.
TEST(Detector, RulesThatAreKeptForAFlowAreThoseThatFitIt) {
  const Signature any = Rule(RuleProtocol::kTcp);
  Signature to_client = any, not_established = any, other_port = any, either_way = any;
  to_client.flow.to_client = true;
  not_established.flow.not_established = true;
  other_port.destination_ports = {.is_any = false, .ranges = {{1, 1}}};
  Packet packet = Packet::tcp("abc");
  const std::uint16_t source = packet.tuple.source_port;
  either_way.destination_ports = {.is_any = false, .ranges = {{source, source}}};
  either_way.both_ways = true;
  Signature negated = Rule(RuleProtocol::kTcpPacket).asks(content("abc"));
  std::get<ContentMatch>(negated.buffers[0].tests[0]).negated = true;
  Looking looking({any, to_client, not_established, other_port, either_way, negated});
  FlowRules rules;
  const auto look = [&](bool is_established) {
    PacketView view = packet.view();
    view.is_established = is_established;
    std::vector<MatchedRule> by_all, by_kept;
    looking.detector.look_at_packet(view, looking.memory, by_all);
    view.rules = &rules;
    looking.detector.look_at_packet(view, looking.memory, by_kept);
    Numbers numbers;
    for (const MatchedRule& rule : by_kept) numbers.push_back(rule.signature);
    EXPECT_TRUE(
        std::ranges::equal(by_all, by_kept, {}, &MatchedRule::signature, &MatchedRule::signature));
    return numbers;
  };
  EXPECT_EQ(look(true), (Numbers{0, 4}));
  EXPECT_TRUE(rules.is_of(true, packet.app));
  EXPECT_EQ(rules.heads, (Numbers{0, 4}));
  EXPECT_EQ(rules.packets, (Numbers{5}));
  EXPECT_EQ(look(false), (Numbers{0, 2, 4}));
  EXPECT_FALSE(rules.is_of(true, packet.app));
  EXPECT_EQ(rules.heads, (Numbers{0, 2, 4}));
  packet = Packet::tcp("xyz");
  EXPECT_EQ(look(true), (Numbers{0, 4, 5}));
}

TEST(Detector, ANegatedContentNeedsAPayload) {
  ContentMatch absent = content("abc");
  absent.negated = true;
  Looking looking({Rule(RuleProtocol::kUdp).asks(absent)});
  EXPECT_EQ(looking.at(Packet::udp("xyz")), (Numbers{0}));
  EXPECT_EQ(looking.at(Packet::udp("abc")), (Numbers{}));
  EXPECT_EQ(looking.at(Packet::udp("")), (Numbers{}));
}

TEST(Detector, PacketsOfTcpAreForRulesOfPacketsUnlessNothingReadsTheirStream) {
  ContentMatch placed = content("abc");
  placed.depth = RuleNumber{.value = 3};
  Signature only_stream = Rule(RuleProtocol::kTcp).asks(content("abc")).fast(0, 0);
  only_stream.flow.only_stream = true;
  Looking looking({Rule(RuleProtocol::kTcp).asks(content("abc")).fast(0, 0),
                   Rule(RuleProtocol::kTcp).asks(placed).fast(0, 0), only_stream});
  Packet packet = Packet::tcp("abc");
  EXPECT_EQ(looking.at(packet), (Numbers{1}));
  packet.has_flow = false;
  EXPECT_EQ(looking.at(packet), (Numbers{0, 1}));
}

TEST(Detector, ARuleOfWhatAFlowCarriesLooksOnceThatIsKnown) {
  Looking looking({Rule(RuleProtocol::kDns), Rule(RuleProtocol::kDns).asks(content("abc")),
                   Rule(RuleProtocol::kHttp)});
  Packet packet = Packet::udp("abc");
  EXPECT_EQ(looking.at(packet), (Numbers{}));
  packet.app = AppProtocol::kDns;
  EXPECT_EQ(looking.at(packet), (Numbers{0, 1}));
  Packet request = Packet::tcp("abc");
  request.app = AppProtocol::kHttp;
  EXPECT_EQ(looking.at(request), (Numbers{2}));
  EXPECT_TRUE(looking.detector.wants_transactions());
}

TEST(Detector, ARuleOfHeadsAloneIsForTheFlowOfThePacket) {
  Looking looking({Rule(RuleProtocol::kUdp), Rule(RuleProtocol::kUdp).asks(content("abc"))});
  Packet packet = Packet::udp("abc");
  const auto are_of_flow = [&] {
    std::vector<MatchedRule> matched;
    looking.detector.look_at_packet(packet.view(), looking.memory, matched);
    std::vector<bool> of_flow;
    for (const MatchedRule& rule : matched) of_flow.push_back(rule.is_of_flow());
    return of_flow;
  };
  EXPECT_EQ(are_of_flow(), (std::vector<bool>{true, false}));
  packet.has_flow = false;
  EXPECT_EQ(are_of_flow(), (std::vector<bool>{false, false}));
}

TEST(Detector, ABitThatARuleSetsIsThereForTheRulesBehindIt) {
  using What = FlowbitTest::What;
  const auto with_bit = [](What what) {
    Signature signature = Rule(RuleProtocol::kUdp).asks(content("abc")).fast(0, 0);
    signature.flowbits.push_back({what, {3}});
    return signature;
  };
  Looking looking({with_bit(What::kIsSet), with_bit(What::kSet), with_bit(What::kIsSet),
                   with_bit(What::kIsNotSet)});
  EXPECT_EQ(looking.at(Packet::udp("abc")), (Numbers{1, 2}));
  EXPECT_EQ(looking.at(Packet::udp("abc")), (Numbers{0, 1, 2}));
  looking.memory.bits.clear();
  EXPECT_EQ(looking.at(Packet::udp("xyz")), (Numbers{}));
  EXPECT_TRUE(looking.memory.bits.empty()) << "a rule without a match sets none";
}

TEST(Detector, AFilterCountsMatches) {
  Signature filtered = Rule(RuleProtocol::kUdp).asks(content("abc")).fast(0, 0);
  filtered.detection_filter = Threshold{.kind = Threshold::Kind::kDetectionFilter, .count = 2};
  Looking looking({filtered});
  looking.memory.lets_pass = 2;
  EXPECT_EQ(looking.at(Packet::udp("abc")), (Numbers{}));
  EXPECT_EQ(looking.at(Packet::udp("-")), (Numbers{}));
  EXPECT_EQ(looking.at(Packet::udp("abc")), (Numbers{0}));
}

TEST(Detector, RulesSayWhatTheDetectorWants) {
  Looking packets({Rule(RuleProtocol::kUdp).asks(content("abc"))});
  EXPECT_FALSE(packets.detector.wants_streams());
  EXPECT_FALSE(packets.detector.wants_transactions());
  EXPECT_EQ(packets.detector.carry(), 0u);
  Looking streams({Rule(RuleProtocol::kTcp).asks(content("abc")).asks(content("abcdef"))});
  EXPECT_TRUE(streams.detector.wants_streams());
  EXPECT_EQ(streams.detector.carry(), 5u);
}

/// The oracle tests each rule by itself, by other code.
TEST(Detector, WithThePrefilterMatchesWhatEachRuleByItselfMatches) {
  std::uint64_t matches = 0, others = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    std::mt19937 random(seed);
    std::vector<Signature> rules;
    for (std::size_t count = 1 + random() % 30; count > 0; --count) {
      rules.push_back(by_hand::random_rule(
          random, random() % 3 == 0 ? RuleProtocol::kIp : RuleProtocol::kUdp, true));
    }
    Looking looking(rules);
    for (int text = 0; text < 20; ++text) {
      const std::string payload = by_hand::letters(random, 1 + random() % 120);
      Numbers wanted;
      for (std::uint32_t number = 0; number < rules.size(); ++number) {
        const bool match =
            by_hand::ContentOracle{payload, rules[number].buffers[0].tests}.matches();
        if (match) wanted.push_back(number);
        ++(match ? matches : others);
      }
      ASSERT_EQ(looking.at(Packet::udp(payload)), wanted) << "seed " << seed << ": " << payload;
    }
  }
  EXPECT_GT(matches, 10'000u);
  EXPECT_GT(others, 10'000u);
}

}  // namespace
}  // namespace millrace
