// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/detect/prefilter.hpp"
#include "tests/unit/services/functions/ids/detect/memory_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/packet_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/rule_oracle.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Packet, by_hand::Rule;

/// A direction of a stream that keeps its last bytes.
class Stream : public StreamHistory {
 public:
  explicit Stream(std::vector<Signature> of, std::size_t kept_max = SIZE_MAX)
      : rules_(std::move(of)),
        built_(build_prefilter(rules_)),
        detector_(rules_, built_),
        kept_max_(kept_max) {}

  /// NumberSet of the rules that match with these bytes.
  std::set<std::uint32_t> read(std::string_view bytes, AppProtocol app = AppProtocol::kNone,
                               bool is_complete = false) {
    const std::size_t carry = std::min<std::size_t>(kept_.size(), detector_.carry());
    const std::string text = kept_.substr(kept_.size() - carry) + std::string(bytes);
    kept_ += bytes;
    if (kept_.size() > kept_max_) {
      base_ += kept_.size() - kept_max_;
      kept_.erase(0, kept_.size() - kept_max_);
    }
    BufferValue value = by_hand::value_of(text, static_cast<std::uint32_t>(carry));
    value.base = base_ + kept_.size() - text.size();
    value.is_complete = is_complete;
    Packet packet = Packet::tcp(bytes);
    packet.app = app;
    std::vector<MatchedRule> matched = packets_matches;
    const std::uint64_t asked_before = asked;
    text_ = tells_text ? value : BufferValue{};
    search = 0;
    detector_.look_at_stream(packet.view(), value, *this, pending, memory, matched);
    asked_for_history = asked > asked_before;
    std::set<std::uint32_t> numbers;
    for (const MatchedRule& rule : matched) {
      EXPECT_TRUE(rule.by_stream);
      EXPECT_TRUE(numbers.insert(rule.signature).second) << "each once";
    }
    return numbers;
  }
  BufferValue text() noexcept override { return text_; }
  BufferValue whole() noexcept override {
    ++asked;
    BufferValue value = by_hand::value_of(kept_);
    value.base = base_;
    return value;
  }
  Detector& detector() { return detector_; }

  PendingRules pending;
  by_hand::Memory memory;
  std::uint64_t asked = 0;
  bool asked_for_history = false;
  bool tells_text = false;  ///< as a segment does: all groups are searched at once
  std::vector<MatchedRule> packets_matches;

 private:
  std::vector<Signature> rules_;
  std::vector<std::byte> built_;
  Detector detector_;
  std::size_t kept_max_;
  std::string kept_;
  std::uint64_t base_ = 0;
  BufferValue text_;
};
using NumberSet = std::set<std::uint32_t>;

TEST(DetectorStream, ALiteralIsFoundAcrossPiecesAndOnce) {
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("abcdef")).fast(0, 0)});
  EXPECT_EQ(stream.read("--abc"), (NumberSet{}));
  EXPECT_FALSE(stream.asked_for_history) << "nothing has begun to match";
  EXPECT_EQ(stream.read("def--"), (NumberSet{0}));
  EXPECT_EQ(stream.read("---"), (NumberSet{}));
  EXPECT_EQ(stream.read("abcdef"), (NumberSet{0}));
}

TEST(DetectorStream, ARuleWaitsForTheContentThatIsMissing) {
  Stream stream(
      {Rule(RuleProtocol::kTcp).asks(content("first")).asks(content("later")).fast(0, 0)});
  EXPECT_EQ(stream.read("-first-"), (NumberSet{}));
  ASSERT_EQ(stream.pending.size(), 1u);
  EXPECT_EQ(stream.read("something else"), (NumberSet{}));
  EXPECT_FALSE(stream.asked_for_history) << "what is missing has not come";
  EXPECT_EQ(stream.read("lat"), (NumberSet{}));
  EXPECT_EQ(stream.read("er"), (NumberSet{0}));
  EXPECT_TRUE(stream.pending.empty());
  EXPECT_EQ(stream.read("later"), (NumberSet{})) << "it has matched by what came before";
}

TEST(DetectorStream, ARuleWaitsForTheLiteralOfAnExpressionThatHasNotBegun) {
  const PcreMatch pcre{.expression = "later\\s*-"};
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("first")).asks(pcre).fast(0, 0)});
  EXPECT_EQ(stream.read("later first later x"), (NumberSet{}));
  ASSERT_EQ(stream.pending.size(), 1u);
  EXPECT_EQ(stream.read("something - else"), (NumberSet{}));
  EXPECT_FALSE(stream.asked_for_history) << "no match has begun";
  EXPECT_EQ(stream.read("lat"), (NumberSet{}));
  EXPECT_EQ(stream.read("er "), (NumberSet{}));
  EXPECT_EQ(stream.read("  "), (NumberSet{}));
  EXPECT_TRUE(stream.asked_for_history) << "a match has begun";
  EXPECT_EQ(stream.read("-"), (NumberSet{0}));
  EXPECT_TRUE(stream.pending.empty());
}

TEST(DetectorStream, ARuleWithoutContentsIsLookedAtWhenTheLiteralOfItsExpressionComes) {
  Stream stream({Rule(RuleProtocol::kTcp).asks(PcreMatch{.expression = "x+abc[0-9]"})});
  EXPECT_EQ(stream.read("xxx and xxab"), (NumberSet{}));
  EXPECT_FALSE(stream.asked_for_history) << "it is not named";
  EXPECT_EQ(stream.read("c"), (NumberSet{}));
  EXPECT_TRUE(stream.asked_for_history);
  EXPECT_EQ(stream.read("1"), (NumberSet{0}));
}

TEST(DetectorStream, ARuleThatCanNotMatchAnyMoreDoesNotWait) {
  ContentMatch near = content("near");
  near.distance = RuleNumber{.value = 0};
  near.within = RuleNumber{.value = 6};
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("first")).asks(near).fast(0, 0)});
  EXPECT_EQ(stream.read("first"), (NumberSet{}));
  EXPECT_EQ(stream.pending.size(), 1u);
  EXPECT_EQ(stream.read("-----------"), (NumberSet{}));
  EXPECT_EQ(stream.read("near"), (NumberSet{}));
  EXPECT_EQ(stream.read("first-near"), (NumberSet{0}));
}

TEST(DetectorStream, TheEndOfTheStreamIsWhatARuleWaitsFor) {
  ContentMatch absent = content("absent");
  absent.negated = true;
  absent.distance = RuleNumber{.value = 0};
  absent.within = RuleNumber{.value = 100};
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("first")).asks(absent).fast(0, 0)});
  EXPECT_EQ(stream.read("first, and few bytes"), (NumberSet{}));
  EXPECT_EQ(stream.read("", AppProtocol::kNone, true), (NumberSet{0}));

  Stream other({Rule(RuleProtocol::kTcp).asks(content("first")).asks(absent).fast(0, 0)});
  EXPECT_EQ(other.read("first" + std::string(100, '-')), (NumberSet{0}));
  EXPECT_EQ(other.read("", AppProtocol::kNone, true), (NumberSet{})) << "it has matched before";
}

TEST(DetectorStream, ARuleWhoseLiteralIsNoLongerKeptStopsWaiting) {
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("first")).asks(content("later")).fast(0, 0)},
                20);
  EXPECT_EQ(stream.read("first"), (NumberSet{}));
  EXPECT_EQ(stream.read(std::string(30, '-')), (NumberSet{}));
  EXPECT_EQ(stream.read("later"), (NumberSet{}));
  EXPECT_TRUE(stream.pending.empty());
  EXPECT_EQ(stream.read("first"), (NumberSet{0}));
}

TEST(DetectorStream, PlacesCountFromTheBeginOfTheStream) {
  ContentMatch placed = content("abc");
  placed.offset = RuleNumber{.value = 20};
  placed.depth = RuleNumber{.value = 10};
  Stream stream({Rule(RuleProtocol::kTcp).asks(placed).fast(0, 0)}, 8);
  EXPECT_EQ(stream.read("abc-------"), (NumberSet{}));
  EXPECT_EQ(stream.read("abc-------"), (NumberSet{}));
  EXPECT_EQ(stream.read("-------abc"), (NumberSet{0}));
  EXPECT_EQ(stream.read("abc"), (NumberSet{}));
}

TEST(DetectorStream, ARuleThatThePacketMatchedCountsForTheFlowAndOnce) {
  ContentMatch placed = content("abc");
  placed.depth = RuleNumber{.value = 3};
  Signature rule = Rule(RuleProtocol::kTcp).asks(placed).fast(0, 0);
  rule.detection_filter = Threshold{};
  Stream stream({rule});
  stream.packets_matches = {{0, false, kNoTransaction}};
  EXPECT_EQ(stream.read("abc"), (NumberSet{0}));
  EXPECT_TRUE(stream.memory.counted.empty());
}

TEST(DetectorStream, UntilItIsKnownWhatAFlowCarriesRulesOfItWait) {
  Stream stream({Rule(RuleProtocol::kHttp).asks(content("abc")).fast(0, 0),
                 Rule(RuleProtocol::kTls).asks(content("abc")).fast(0, 0)});
  EXPECT_EQ(stream.read("-abc", AppProtocol::kUnknown), (NumberSet{}));
  EXPECT_EQ(stream.pending.size(), 2u);
  EXPECT_EQ(stream.read("-", AppProtocol::kHttp), (NumberSet{0}));
  EXPECT_TRUE(stream.pending.empty());
}

TEST(DetectorStream, RulesWithoutALiteralAreLookedAtWheneverSomethingComes) {
  Signature headless = Rule(RuleProtocol::kTcp);
  headless.flow.only_stream = true;
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("a")).fast(0, 0), headless});
  EXPECT_EQ(stream.read("-a"), (NumberSet{0, 1}));
  EXPECT_EQ(stream.read("-"), (NumberSet{1}));
  EXPECT_EQ(stream.read(""), (NumberSet{}));
  EXPECT_TRUE(stream.pending.empty());
}

TEST(DetectorStream, ThousandWaitingRulesAskForTheHistoryOnlyWhenTheirContentComes) {
  std::vector<Signature> rules;
  rules.reserve(1'000);
  for (int number = 0; number < 1'000; ++number) {
    rules.push_back(Rule(RuleProtocol::kTcp)
                        .asks(content("first"))
                        .asks(content("later" + std::to_string(1'000 + number)))
                        .fast(0, 0));
  }
  Stream stream(rules);
  EXPECT_EQ(stream.read("first"), (NumberSet{}));
  ASSERT_EQ(stream.pending.size(), 1'000u);
  for (int piece = 0; piece < 50; ++piece) {
    EXPECT_EQ(stream.read("later or never, " + std::to_string(piece)), (NumberSet{}));
    EXPECT_FALSE(stream.asked_for_history);
  }
  EXPECT_EQ(stream.read("later1700"), (NumberSet{700}));
  EXPECT_EQ(stream.pending.size(), 999u);
  EXPECT_EQ(stream.detector().forgotten(), 0u);
}

TEST(DetectorStream, TheOldestOfTooManyWaitingRulesIsForgottenAndCounted) {
  std::vector<Signature> rules(
      kPendingMax + 5,
      Rule(RuleProtocol::kTcp).asks(content("first")).asks(content("later")).fast(0, 0));
  Stream stream(rules);
  EXPECT_EQ(stream.read("first"), (NumberSet{}));
  EXPECT_EQ(stream.pending.size(), kPendingMax);
  EXPECT_EQ(stream.detector().forgotten(), 5u);
}

/// However a stream is cut, the rules that match are those that match the whole of it; the oracle
/// tests each rule by itself, by other code.
TEST(DetectorStream, CutAnywhereAStreamMatchesTheSameRules) {
  std::uint64_t matches = 0, others = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    std::mt19937 random(seed);
    std::vector<Signature> rules;
    for (std::size_t count = 1 + random() % 40; count > 0; --count) {
      rules.push_back(by_hand::random_rule(
          random, random() % 3 == 0 ? RuleProtocol::kIp : RuleProtocol::kTcp, false));
    }
    const std::string text = by_hand::letters(random, 1 + random() % 150);
    NumberSet wanted;
    for (std::uint32_t number = 0; number < rules.size(); ++number) {
      const bool match = by_hand::ContentOracle{text, rules[number].buffers[0].tests}.matches();
      if (match) wanted.insert(number);
      ++(match ? matches : others);
    }
    for (std::size_t piece_max : {std::size_t{1}, std::size_t{4}, std::size_t{30}, text.size()}) {
      Stream stream(rules);
      stream.tells_text = random() % 2 == 0;
      NumberSet found;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = std::min(text.size() - at, 1 + random() % piece_max);
        found.merge(stream.read(std::string_view(text).substr(at, bytes)));
        at += bytes;
      }
      ASSERT_EQ(found, wanted) << "seed " << seed << ", pieces to " << piece_max << ": " << text;
    }
  }
  EXPECT_GT(matches, 1'000u);
  EXPECT_GT(others, 1'000u);
}

ContentMatch absent_within(const std::string& bytes, std::uint32_t within) {
  ContentMatch absent = content(bytes);
  absent.negated = true;
  absent.distance = RuleNumber{.value = 0};
  absent.within = RuleNumber{.value = within};
  return absent;
}

TEST(DetectorStream, RulesWithoutALiteralGetTheEndOfTheStreamOnce) {
  Stream stream({Rule(RuleProtocol::kTcp).asks(content("a")).asks(absent_within("b", 9)),
                 Rule(RuleProtocol::kTcp).asks(content("a"))});
  EXPECT_EQ(stream.read("-a-"), (NumberSet{1}));
  EXPECT_EQ(stream.pending.size(), 1u) << "what no end decides does not wait for it";
  EXPECT_EQ(stream.read("", AppProtocol::kNone, true), (NumberSet{0}));
  EXPECT_TRUE(stream.pending.empty());

  Stream other({Rule(RuleProtocol::kTcp).asks(content("a")).asks(absent_within("b", 9))});
  EXPECT_EQ(other.read("a123456789"), (NumberSet{0}));
  EXPECT_EQ(other.read("", AppProtocol::kNone, true), (NumberSet{})) << "it has matched before";
  Stream late({Rule(RuleProtocol::kHttp).asks(content("a")).asks(absent_within("b", 9))});
  EXPECT_EQ(late.read("a"), (NumberSet{}));
  EXPECT_EQ(late.read("", AppProtocol::kHttp, true), (NumberSet{}));
  EXPECT_EQ(late.read("a", AppProtocol::kHttp), (NumberSet{}));
  EXPECT_EQ(late.read("", AppProtocol::kHttp, true), (NumberSet{0}));
}

/// Has text an `a` without a `b` within the next `within` bytes?
bool has_lone_a(std::string_view text, std::size_t within) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == 'a' && text.substr(at + 1, within).find('b') == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

TEST(DetectorStream, CutAnywhereTheEndDecidesRulesWithoutALiteralAsTheWholeDoes) {
  const BufferSize size{.low = 10, .high = 30};
  const std::vector<Signature> rules = {
      Rule(RuleProtocol::kTcp).asks(content("a")).asks(absent_within("b", 6)),
      Rule(RuleProtocol::kTcp).asks(size), Rule(RuleProtocol::kTcp).asks(content("d"))};
  std::array<std::uint64_t, 3> matches{};
  constexpr unsigned kStreams = 400;
  for (unsigned seed = 0; seed < kStreams; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (std::size_t bytes = 1 + random() % 40; bytes > 0; --bytes) {
      text += random() % 30 == 0 ? 'd' : "abbc"[random() % 4];
    }
    NumberSet wanted, found;
    if (has_lone_a(text, 6)) wanted.insert(0);
    if (text.size() >= size.low && text.size() <= size.high) wanted.insert(1);
    if (text.find('d') != std::string::npos) wanted.insert(2);
    Stream stream(rules);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = std::min(text.size() - at, 1 + random() % 12);
      found.merge(stream.read(std::string_view(text).substr(at, bytes)));
      at += bytes;
    }
    found.merge(stream.read("", AppProtocol::kNone, true));
    ASSERT_EQ(found, wanted) << "seed " << seed << ": " << text;
    EXPECT_TRUE(stream.pending.empty());
    for (const std::uint32_t number : wanted) ++matches.at(number);
  }
  for (const std::uint64_t count : matches) {
    EXPECT_GT(count, 40u);
    EXPECT_LT(count, kStreams - 40);
  }
}

class KnownHistory : public StreamHistory {
 public:
  explicit KnownHistory(const BufferValue& text) : text_(text) {}
  BufferValue whole() noexcept override { return text_; }

 private:
  BufferValue text_;
};

TEST(DetectorStream, RulesOfPacketsAndStreamsSeeBitsInTheOrderOfRules) {
  using What = FlowbitTest::What;
  const auto with_bit = [](Signature rule, What what) {
    rule.flowbits.push_back({what, {3}});
    return rule;
  };
  const Signature of_stream = Rule(RuleProtocol::kTcp).asks(content("abc")).fast(0, 0);
  const Signature of_packet = Rule(RuleProtocol::kTcp);
  Stream stream({with_bit(of_packet, What::kIsNotSet), with_bit(of_stream, What::kSet),
                 with_bit(of_packet, What::kIsSet), with_bit(of_stream, What::kUnset),
                 with_bit(of_packet, What::kIsSet), with_bit(of_packet, What::kIsNotSet)});
  Packet packet = Packet::tcp("abc");
  PacketView view = packet.view();
  view.history = &stream;
  std::vector<MatchedRule> matched;
  stream.detector().look_at_packet(view, stream.memory, matched);
  EXPECT_TRUE(matched.empty());
  const BufferValue text = by_hand::value_of("abc", 0);
  KnownHistory history(text);
  stream.detector().look_at_stream(view, text, history, stream.pending, stream.memory, matched);
  stream.detector().conclude_packet(view, stream.memory, matched);
  std::vector<std::pair<std::uint32_t, bool>> numbers;
  for (const MatchedRule& rule : matched) numbers.emplace_back(rule.signature, rule.by_stream);
  EXPECT_EQ(numbers, (std::vector<std::pair<std::uint32_t, bool>>{
                         {0, false}, {1, true}, {2, false}, {3, true}, {5, false}}));
}

}  // namespace
}  // namespace millrace
