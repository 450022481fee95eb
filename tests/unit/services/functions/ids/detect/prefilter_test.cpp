// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/prefilter.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/services/functions/ids/detect/rule_by_hand.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Rule, by_hand::value_of;

Candidates candidates(const std::vector<Signature>& rules, ScanGroup group,
                      const BufferValue& value) {
  Prefilter prefilter(build_prefilter(rules), rules);
  Candidates found;
  prefilter.search(group, value, found);
  return found;
}

TEST(Prefilter, EqualPatternsNameAllTheirRulesOnce) {
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kUdp).asks(content("abc")).fast(0, 0),
      Rule(RuleProtocol::kUdp).asks(content("xyz")).fast(0, 0),
      Rule(RuleProtocol::kUdp).asks(content("abc")).fast(0, 0),
      Rule(RuleProtocol::kUdp).asks(content("abc", true)).fast(0, 0),
  };
  EXPECT_EQ(candidates(rules, PayloadOf::kDatagram, value_of("abc abc xyz")),
            (Candidates{0, 1, 2, 3}));
  EXPECT_EQ(candidates(rules, PayloadOf::kDatagram, value_of("ABC")), (Candidates{3}));
}

TEST(Prefilter, KindsOfPayloadHaveRulesOfTheirOwn) {
  ContentMatch placed = content("placed");
  placed.depth = RuleNumber{.value = 10};
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kUdp).asks(content("udp")).fast(0, 0),
      Rule(RuleProtocol::kTcp).asks(content("tcp")).fast(0, 0),
      Rule(RuleProtocol::kTcp).asks(placed).fast(0, 0),
      Rule(RuleProtocol::kTcpPacket).asks(content("alone")).fast(0, 0),
      Rule(RuleProtocol::kIp).asks(content("any")).fast(0, 0),
  };
  const BufferValue text = value_of("udp tcp placed alone any");
  EXPECT_EQ(candidates(rules, PayloadOf::kDatagram, text), (Candidates{0, 4}));
  EXPECT_EQ(candidates(rules, PayloadOf::kTcpPacket, text), (Candidates{2, 3}));
  EXPECT_EQ(candidates(rules, PayloadOf::kStream, text), (Candidates{1, 2, 4}));
}

TEST(Prefilter, BodiesAreSearchedForPatternsOfEachOfTheirNames) {
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kHttp).asks(content("one"), RuleBuffer::kHttpRequestBody).fast(0, 0),
      Rule(RuleProtocol::kHttp).asks(content("one"), RuleBuffer::kFileData).fast(0, 0),
      Rule(RuleProtocol::kHttp).asks(content("one"), RuleBuffer::kHttpUri).fast(0, 0),
  };
  const BufferValue text = value_of("one");
  EXPECT_EQ(candidates(rules, RuleBuffer::kHttpResponseBody, text), (Candidates{0, 1}));
  EXPECT_EQ(candidates(rules, RuleBuffer::kFileData, text), (Candidates{0, 1}));
  EXPECT_EQ(candidates(rules, RuleBuffer::kHttpUri, text), (Candidates{2}));
}

TEST(Prefilter, ARuleWithoutAUsableLiteralIsUngated) {
  Signature transformed =
      Rule(RuleProtocol::kHttp).asks(content("abc"), RuleBuffer::kHttpUri).fast(0, 0);
  transformed.buffers[0].transforms.push_back({Transform::Kind::kToLowercase, ""});
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kUdp).asks(content("a")).fast(0, 0),
      transformed,
      Rule(RuleProtocol::kUdp).asks(content("a")).asks(content("bc")).fast(0, 0),
      Rule(RuleProtocol::kUdp),
  };
  const Prefilter prefilter(build_prefilter(rules), rules);
  const auto of_datagrams = prefilter.ungated(PayloadOf::kDatagram);
  EXPECT_EQ(Candidates(of_datagrams.begin(), of_datagrams.end()), (Candidates{0}));
  const auto of_uris = prefilter.ungated(RuleBuffer::kHttpUri);
  EXPECT_EQ(Candidates(of_uris.begin(), of_uris.end()), (Candidates{1}));
  EXPECT_EQ(candidates(rules, PayloadOf::kDatagram, value_of("-bc")), (Candidates{2}));
}

TEST(Prefilter, WhatIsDamagedOrOfOtherRulesIsRefused) {
  const std::vector<Signature> rules{Rule(RuleProtocol::kUdp).asks(content("abc")).fast(0, 0)};
  const std::vector<Signature> others{Rule(RuleProtocol::kUdp).asks(content("abd")).fast(0, 0)};
  const std::vector<std::byte> built = build_prefilter(rules);
  const auto error_with = [](std::span<const std::byte> bytes, std::span<const Signature> of) {
    return test::error_of([&] { Prefilter(bytes, of); });
  };
  EXPECT_EQ(error_with(built, others), "the prefilter is of other rules");
  EXPECT_EQ(error_with(std::span(built).first(8), rules), "the prefilter is cut short");
  EXPECT_EQ(error_with(std::span(built).first(built.size() - 1), rules),
            "the prefilter is cut short");
  EXPECT_EQ(error_with(built, rules), "no error");
}

/// Letters of few kinds, so that literals overlap and nearly match.
std::string letters(std::mt19937& random, std::size_t length) {
  std::string text(length, ' ');
  for (char& letter : text) letter = "abcABz"[random() % 6];
  return text;
}

std::vector<Signature> random_rules(std::mt19937& random) {
  constexpr RuleProtocol kProtocols[] = {RuleProtocol::kUdp, RuleProtocol::kTcp, RuleProtocol::kIp};
  std::vector<Signature> rules;
  for (std::size_t count = 1 + random() % 40; count > 0; --count) {
    const bool nocase = random() % 2 == 0;
    std::string literal = letters(random, 2 + random() % 90);
    if (random() % 4 != 0) literal.resize(2 + random() % 4 % literal.size(), 'a');
    if (nocase) std::ranges::transform(literal, literal.begin(), ::tolower);
    rules.push_back(Rule(kProtocols[random() % 3]).asks(content(literal, nocase)).fast(0, 0));
  }
  return rules;
}

TEST(Prefilter, FindsInPiecesWhatEndsInEachOfThem) {
  std::uint64_t named = 0, kept_back = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Signature> rules = random_rules(random);
    Prefilter prefilter(build_prefilter(rules), rules);
    for (int text = 0; text < 20; ++text) {
      std::string bytes = letters(random, 1 + random() % 400);
      const auto& planted =
          std::get<ContentMatch>(rules[random() % rules.size()].buffers[0].tests[0]);
      bytes.insert(random() % bytes.size(), planted.bytes);
      const auto seen = static_cast<std::uint32_t>(random() % (bytes.size() + 1));
      Candidates found, wanted;
      prefilter.search(PayloadOf::kStream, value_of(bytes, seen), found);
      for (std::uint32_t number = 0; number < rules.size(); ++number) {
        if (!can_be_tcp(rules[number].protocol)) continue;
        const auto& match = std::get<ContentMatch>(rules[number].buffers[0].tests[0]);
        const std::string_view literal = match.bytes;
        // What is looked for of a long literal is its end.
        const auto gate = literal.substr(literal.size() - std::min(literal.size(), kGateBytesMax));
        const bool is_there = by_hand::ends_behind(bytes, seen, gate, match.nocase);
        if (is_there) wanted.push_back(number);
        ++(is_there ? named : kept_back);
      }
      ASSERT_EQ(found, wanted) << "seed " << seed << ", seen " << seen << ", text " << bytes;
    }
  }
  EXPECT_GT(named, 1'000u);
  EXPECT_GT(kept_back, 1'000u);
}

TEST(Prefilter, OneSearchOfASegmentFindsWhatASearchForEachGroupFinds) {
  std::mt19937 random(11);
  std::uint64_t named = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Signature> rules = random_rules(random);
    for (Signature& rule : rules) {
      auto& match = std::get<ContentMatch>(rule.buffers[0].tests[0]);
      if (random() % 3 == 0) match.depth = RuleNumber{.value = 400};
      if (random() % 3 == 0) rule.buffers[0].buffer = RuleBuffer::kFileData;
    }
    Prefilter prefilter(build_prefilter(rules), rules);
    for (int text = 0; text < 20; ++text) {
      const std::string bytes = letters(random, 1 + random() % 400);
      const auto seen = static_cast<std::uint32_t>(random() % bytes.size());
      const BufferValue value = value_of(bytes, seen);
      FoundLiterals literals;
      prefilter.search_segment(value, literals);
      for (const ScanGroup group : {ScanGroup(PayloadOf::kStream), ScanGroup(PayloadOf::kTcpPacket),
                                    ScanGroup(RuleBuffer::kFileData)}) {
        Candidates found, wanted;
        prefilter.name(group, literals, found);
        std::ranges::sort(found);
        prefilter.search(group, value, wanted);
        ASSERT_EQ(found, wanted) << "round " << round << ", group " << group.place();
        named += found.size();
      }
    }
  }
  EXPECT_GT(named, 1'000u);
}

TEST(Prefilter, OfASegmentThatIsCleanOnlyWhatBeginsInFrontOfItIsLookedFor) {
  std::uint64_t named = 0, clean = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Signature> rules = random_rules(random);
    const PayloadLiterals literals = payload_literals(rules);
    const std::vector<std::byte> built = build_prefilter(rules);
    EXPECT_EQ(payload_fingerprint(built), literals.fingerprint);
    Prefilter prefilter(built, rules);
    for (int text = 0; text < 40; ++text) {
      const std::string before = letters(random, random() % 100);
      const std::string fresh = letters(random, 1 + random() % 4 * (random() % 60));
      const bool is_clean = std::ranges::none_of(literals.tcp, [&](const auto& literal) {
        return by_hand::ends_behind(fresh, 0, literal.bytes, literal.nocase);
      });
      if (!is_clean) continue;
      ++clean;
      const std::string bytes = before + fresh;
      const BufferValue value = value_of(bytes, static_cast<std::uint32_t>(before.size()));
      FoundLiterals found, wanted;
      prefilter.search_segment(value, found, true);
      prefilter.search_segment(value, wanted);
      std::ranges::sort(found.numbers);
      std::ranges::sort(wanted.numbers);
      ASSERT_EQ(found.numbers, wanted.numbers)
          << "seed " << seed << ", text " << before << " " << fresh;
      named += found.numbers.size();
    }
  }
  EXPECT_GT(clean, 500u);
  EXPECT_GT(named, 50u);
}

TEST(Prefilter, BytesThatAreSaidToBeCleanAreNotSearched) {
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kTcp).asks(content("forbidden")).fast(0, 0)};
  Prefilter prefilter(build_prefilter(rules), rules);
  const auto count = [&](const std::string& bytes, std::uint32_t seen) {
    FoundLiterals found;
    prefilter.search_segment(value_of(bytes, seen), found, true);
    return found.numbers.size();
  };
  EXPECT_EQ(count("forbidden", 0), 0u);
  EXPECT_EQ(count("x" + std::string(9, '-') + "forbidden", 1), 0u);
  EXPECT_EQ(count("forbidden", 1), 1u);
  EXPECT_EQ(count("forbidden", 8), 1u);
}

TEST(Prefilter, ALiteralHasThePortsThatAllOfItsRulesAskFor) {
  using Ranges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;
  const auto ports_of = [](std::vector<std::pair<Ranges, Ranges>> ends) {
    std::vector<Signature> rules;
    for (const auto& [source, destination] : ends) {
      Signature& rule =
          rules.emplace_back(Rule(RuleProtocol::kTcp).asks(content("word")).fast(0, 0));
      rule.source_ports = {.is_any = source.empty(), .ranges = source};
      rule.destination_ports = {.is_any = destination.empty(), .ranges = destination};
    }
    std::vector<std::uint16_t> ports;
    for (const auto& literal : payload_literals(rules).tcp) ports.push_back(literal.port);
    return ports;
  };
  using Ports = std::vector<std::uint16_t>;
  EXPECT_EQ(ports_of({{{}, {}}}), Ports{0});
  EXPECT_EQ(ports_of({{{}, {{80, 81}}}}), (Ports{80, 81}));
  EXPECT_EQ(ports_of({{{{25, 25}}, {{80, 81}}}}), Ports{25});
  EXPECT_EQ(ports_of({{{{25, 25}}, {}}, {{}, {{80, 80}}}}), (Ports{25, 80}));
  EXPECT_EQ(ports_of({{{{25, 25}}, {}}, {{}, {}}}), Ports{0});
  EXPECT_EQ(ports_of({{{}, {{1024, 65'535}}}}), Ports{0});
  EXPECT_EQ(ports_of({{{}, {{1, 16}}}}).size(), 16u);
  EXPECT_EQ(ports_of({{{}, {{1, 16}}}, {{}, {{17, 17}}}}), Ports{0});
  EXPECT_EQ(ports_of({{{{0, 65'535}}, {{7, 7}}}}), Ports{7});
}

TEST(Prefilter, LiteralsOfPayloadsDoNotDependOnTheOrderOfRules) {
  const std::vector<Signature> rules{
      Rule(RuleProtocol::kTcp).asks(content("tcp")).fast(0, 0),
      Rule(RuleProtocol::kUdp).asks(content("udp")).fast(0, 0),
      Rule(RuleProtocol::kIp).asks(content("any", true)).fast(0, 0),
      Rule(RuleProtocol::kTcp).asks(content("tcp")).fast(0, 0),
      Rule(RuleProtocol::kHttp).asks(content("body"), RuleBuffer::kFileData).fast(0, 0),
      Rule(RuleProtocol::kHttp).asks(content("uri"), RuleBuffer::kHttpUri).fast(0, 0),
  };
  const PayloadLiterals literals = payload_literals(rules);
  using Set = std::vector<PayloadLiterals::Literal>;
  EXPECT_EQ(literals.tcp, (Set{{"any", true, 0}, {"body", false, 0}, {"tcp", false, 0}}));
  EXPECT_EQ(literals.udp, (Set{{"any", true, 0}, {"udp", false, 0}}));
  std::vector<Signature> turned(rules.rbegin(), rules.rend());
  EXPECT_EQ(payload_literals(turned).fingerprint, literals.fingerprint);
  turned.pop_back();
  EXPECT_EQ(payload_literals(turned).fingerprint, literals.fingerprint);  // another has its literal
  turned.pop_back();
  EXPECT_NE(payload_literals(turned).fingerprint, literals.fingerprint);
}

}  // namespace
}  // namespace millrace
