// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/detect/prefilter.hpp"
#include "tests/unit/services/functions/ids/detect/memory_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/packet_by_hand.hpp"
#include "tests/unit/services/functions/ids/detect/rule_oracle.hpp"

namespace millrace {
namespace {

using by_hand::content, by_hand::Packet, by_hand::Rule;
using Numbers = std::vector<std::uint32_t>;
constexpr std::size_t kLimit = 1'000;
constexpr std::uint8_t kRequest = 0, kResponse = 1;

/// A transaction of HTTP, and the rules that are looked for in it.
struct Exchange {
  explicit Exchange(std::vector<Signature> of)
      : rules(std::move(of)), built(build_prefilter(rules)), detector(rules, built) {}
  Numbers look(std::uint8_t direction) {
    std::vector<MatchedRule> matched;
    packet.direction = direction;
    detector.look_at_transaction(packet.view(), transaction, direction, memory, matched);
    Numbers numbers;
    for (const MatchedRule& rule : matched) {
      EXPECT_TRUE(rule.by_stream);
      EXPECT_EQ(rule.transaction, 7u);
      numbers.push_back(rule.signature);
    }
    return numbers;
  }

  std::vector<Signature> rules;
  std::vector<std::byte> built;
  Detector detector;
  Transaction transaction{AppProtocol::kHttp, 7};
  Packet packet = Packet::tcp("what the packet holds");
  by_hand::Memory memory;
};

Rule uri_rule(std::string bytes) {
  return Rule(RuleProtocol::kHttp).asks(content(std::move(bytes)), RuleBuffer::kHttpUri).fast(0, 0);
}

TEST(DetectorTransaction, ARuleMatchesATransactionOnce) {
  Exchange exchange({uri_rule("abc"), uri_rule("xyz")});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0}));
  exchange.transaction.complete(kRequest);
  EXPECT_EQ(exchange.look(kRequest), (Numbers{}));
  EXPECT_EQ(exchange.transaction.matched[kRequest], (Numbers{0}));
}

TEST(DetectorTransaction, ARuleOfEitherDirectionMatchesBoth) {
  Exchange exchange(
      {Rule(RuleProtocol::kHttp).asks(content("HTTP/1"), RuleBuffer::kHttpProtocol).fast(0, 0)});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpProtocol, "HTTP/1.1");
  exchange.transaction.put(kResponse, RuleBuffer::kHttpProtocol, "HTTP/1.0");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0}));
  EXPECT_EQ(exchange.look(kResponse), (Numbers{0}));
}

TEST(DetectorTransaction, AllBuffersOfARuleHaveToMatchWhenTheyCome) {
  Exchange exchange({uri_rule("abc").asks(content("agent"), RuleBuffer::kHttpUserAgent),
                     uri_rule("abc").asks(content("other"), RuleBuffer::kHttpUserAgent)});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{}));
  EXPECT_EQ(exchange.transaction.waiting.size(), 2u);
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUserAgent, "an agent");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0}));
  EXPECT_TRUE(exchange.transaction.waiting.empty());
}

TEST(DetectorTransaction, ABufferThatDoesNotComeMatchesNothing) {
  ContentMatch absent = content("agent");
  absent.negated = true;
  Exchange exchange({uri_rule("abc").asks(absent, RuleBuffer::kHttpUserAgent)});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{}));
  exchange.transaction.complete(kRequest);
  EXPECT_EQ(exchange.look(kRequest), (Numbers{}));
  EXPECT_TRUE(exchange.transaction.waiting.empty());
}

TEST(DetectorTransaction, ABodyIsFoundAcrossPiecesByEitherOfItsNames) {
  Exchange exchange(
      {Rule(RuleProtocol::kHttp).asks(content("abcdef"), RuleBuffer::kFileData).fast(0, 0),
       Rule(RuleProtocol::kHttp).asks(content("abcdef"), RuleBuffer::kHttpResponseBody).fast(0, 0),
       Rule(RuleProtocol::kHttp).asks(content("abcdef"), RuleBuffer::kHttpRequestBody).fast(0, 0)});
  const auto append = [&](std::string_view bytes) {
    exchange.transaction.append(kResponse, RuleBuffer::kFileData, bytes, kLimit);
  };
  append("--abc");
  EXPECT_EQ(exchange.look(kResponse), (Numbers{}));
  append("def--");
  EXPECT_EQ(exchange.look(kResponse), (Numbers{0, 1}));
  append("abcdef");
  EXPECT_EQ(exchange.look(kResponse), (Numbers{}));
}

TEST(DetectorTransaction, BodiesOfUnlikeBytesAreBothSearched) {
  Exchange exchange(
      {Rule(RuleProtocol::kHttp).asks(content("plain"), RuleBuffer::kFileData).fast(0, 0)});
  exchange.transaction.append(kRequest, RuleBuffer::kHttpRequestBody, "form; body", kLimit);
  exchange.transaction.append(kRequest, RuleBuffer::kFileData, "the plain", kLimit);
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0}));
}

TEST(DetectorTransaction, ARuleWaitsForTheContentOfABody) {
  Exchange exchange({Rule(RuleProtocol::kHttp)
                         .asks(content("first"), RuleBuffer::kFileData)
                         .asks(content("later"), RuleBuffer::kFileData)
                         .fast(0, 0)});
  const auto append = [&](std::string_view bytes) {
    exchange.transaction.append(kResponse, RuleBuffer::kFileData, bytes, kLimit);
    return exchange.look(kResponse);
  };
  EXPECT_EQ(append("-first-"), (Numbers{}));
  EXPECT_EQ(append("lat"), (Numbers{}));
  ASSERT_EQ(exchange.transaction.waiting.size(), 1u);
  EXPECT_EQ(append("er"), (Numbers{0}));
  EXPECT_TRUE(exchange.transaction.waiting.empty());
}

TEST(DetectorTransaction, OfManyValuesEachIsLookedAtByItself) {
  const RuleBuffer header = RuleBuffer::kHttpRequestHeader;
  const auto of_both = [&](std::string one, std::string other) {
    return Rule(RuleProtocol::kHttp)
        .asks(content(std::move(one)), header)
        .asks(content(std::move(other)), header)
        .fast(0, 0);
  };
  Exchange exchange({of_both("Host", "example"), of_both("Host", "agent")});
  exchange.transaction.put(kRequest, header, "User-Agent: agent");
  exchange.transaction.put(kRequest, header, "Host: example");
  exchange.transaction.complete(kRequest);
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0}));
}

TEST(DetectorTransaction, ADirectionIsThatOfTheFlow) {
  const auto header_rule = [](bool to_server, bool to_client) {
    Signature rule =
        Rule(RuleProtocol::kHttp).asks(content("abc"), RuleBuffer::kHttpHeader).fast(0, 0);
    rule.flow.to_server = to_server;
    rule.flow.to_client = to_client;
    return rule;
  };
  Exchange exchange(
      {header_rule(true, false), header_rule(false, true), header_rule(false, false)});
  exchange.transaction.put(kResponse, RuleBuffer::kHttpHeader, "abc");
  EXPECT_EQ(exchange.look(kResponse), (Numbers{1, 2}));
  exchange.transaction.put(kRequest, RuleBuffer::kHttpHeader, "abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0, 2}));
}

TEST(DetectorTransaction, EndsAreThoseOfTheDirectionThatIsLookedAt) {
  Signature rule = uri_rule("abc");
  rule.destination_ports = {.is_any = false, .ranges = {{80, 80}}};
  Exchange exchange({rule});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  // An answer's packet brings it.
  exchange.packet.tuple = reversed(exchange.packet.tuple);
  exchange.packet.direction = kResponse;
  std::vector<MatchedRule> matched;
  exchange.detector.look_at_transaction(exchange.packet.view(), exchange.transaction, kRequest,
                                        exchange.memory, matched);
  EXPECT_EQ(matched.size(), 1u);
}

TEST(DetectorTransaction, AnotherProtocolDoesNotMatch) {
  Signature tls = uri_rule("abc");
  tls.protocol = RuleProtocol::kTls;
  Signature tcp = uri_rule("abc");
  tcp.protocol = RuleProtocol::kTcp;
  Exchange exchange({tls, tcp});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{1}));
}

TEST(DetectorTransaction, ThePayloadOfThePacketCountsBesideBuffers) {
  Exchange exchange(
      {uri_rule("abc").asks(content("packet")), uri_rule("abc").asks(content("none"))});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{0}));
  EXPECT_TRUE(exchange.detector.wants_streams());
}

/// A stream whose last bytes are the text.
class TextHistory : public StreamHistory {
 public:
  TextHistory(std::string_view stream, std::size_t bytes) : stream_(stream), bytes_(bytes) {}
  BufferValue whole() noexcept override {
    ++asked;
    return by_hand::value_of(stream_, seen());
  }
  BufferValue text() noexcept override {
    const std::uint32_t carry = std::min(seen(), 63u);
    BufferValue value = by_hand::value_of(stream_.substr(seen() - carry), carry);
    value.base = seen() - carry;
    return value;
  }
  int asked = 0;

 private:
  std::uint32_t seen() const { return static_cast<std::uint32_t>(stream_.size() - bytes_); }
  std::string_view stream_;
  std::size_t bytes_;
};

TEST(DetectorTransaction, AStreamIsAskedForWhenTheContentThatIsMissingComes) {
  const auto rule = [](std::string bytes) {
    return Rule(RuleProtocol::kHttp)
        .asks(content("first"), RuleBuffer::kFileData)
        .fast(0, 0)
        .asks(content(std::move(bytes)));
  };
  Exchange exchange({rule("later"), rule("never")});
  exchange.packet.direction = kResponse;
  std::string stream;
  const auto read = [&](std::string_view bytes, std::string_view body) {
    stream += bytes;
    TextHistory history(stream, bytes.size());
    if (!body.empty()) {
      exchange.transaction.append(kResponse, RuleBuffer::kFileData, body, kLimit);
    }
    PacketView view = exchange.packet.view();
    view.history = &history;
    std::vector<MatchedRule> matched;
    exchange.detector.look_at_transaction(view, exchange.transaction, kResponse, exchange.memory,
                                          matched);
    return std::pair(matched.size(), history.asked);
  };
  using Outcome = std::pair<std::size_t, int>;
  EXPECT_EQ(read("head first ", "first "), (Outcome{0, 2}));
  EXPECT_EQ(read("xyz", "xyz"), (Outcome{0, 0})) << "neither content has come";
  EXPECT_EQ(read("la", "la"), (Outcome{0, 0}));
  stream += "-";  // bytes of which the transaction was not told
  EXPECT_EQ(read("x", "x"), (Outcome{0, 2}));
  EXPECT_EQ(read("lat", "lat"), (Outcome{0, 0}));
  EXPECT_EQ(read("er", "er"), (Outcome{1, 1}));
  EXPECT_EQ(read("more", "more"), (Outcome{0, 0}));
}

/// What a body has that is a segment's text, and one that is not.
TEST(DetectorTransaction, ABodyIsSearchedWithItsSegmentWhereItIsThat) {
  for (const std::string_view head : {"", "head: ", "abcdef"}) {
    for (const std::string_view behind : {"", "-", "abcdef"}) {
      Exchange exchange(
          {Rule(RuleProtocol::kHttp).asks(content("abcdef"), RuleBuffer::kFileData).fast(0, 0),
           Rule(RuleProtocol::kHttp).asks(content("xyz"), RuleBuffer::kFileData).fast(0, 0)});
      std::string stream;
      const auto read = [&](std::string_view body) {
        const std::string bytes = std::string(head).append(body).append(behind);
        stream += bytes;
        TextHistory history(stream, bytes.size());
        exchange.transaction.append(kRequest, RuleBuffer::kFileData, body, kLimit);
        PacketView view = exchange.packet.view();
        view.history = &history;
        std::vector<MatchedRule> matched;
        exchange.detector.look_at_transaction(view, exchange.transaction, kRequest, exchange.memory,
                                              matched);
        return matched.size();
      };
      EXPECT_EQ(read("--abc"), 0u);
      EXPECT_EQ(read("d"), 0u);
      EXPECT_EQ(read("ef"), 1u);
      EXPECT_EQ(read("xyz"), 1u);
    }
  }
}

TEST(DetectorTransaction, ALaterRuleSeesTheBitsOfAnEarlierOne) {
  using What = FlowbitTest::What;
  Signature sets = uri_rule("abc"), asks = uri_rule("abc");
  sets.flowbits.push_back({What::kSet, {1}});
  asks.flowbits.push_back({What::kIsSet, {1}});
  Exchange exchange({asks, sets, asks});
  exchange.transaction.put(kRequest, RuleBuffer::kHttpUri, "/abc");
  EXPECT_EQ(exchange.look(kRequest), (Numbers{1, 2}));
}

/// Two buffers and a body in pieces, with rules of all of them, in any order; the oracle tests each
/// rule by itself on the whole values.
TEST(DetectorTransaction, InPiecesMatchesWhatEachRuleByItselfMatches) {
  constexpr RuleBuffer kBuffers[] = {RuleBuffer::kHttpUri, RuleBuffer::kHttpUserAgent,
                                     RuleBuffer::kHttpRequestBody};
  std::uint64_t matches = 0, others = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::vector<Signature> rules;
    for (std::size_t count = 1 + random() % 30; count > 0; --count) {
      Rule rule(RuleProtocol::kHttp);
      std::vector<RuleBuffer> chosen(kBuffers, kBuffers + 3);
      std::ranges::shuffle(chosen, random);
      for (std::size_t buffer = 0; buffer <= random() % 3; ++buffer) {
        for (std::size_t test = 0; test <= random() % 2; ++test) {
          rule.asks(by_hand::random_content(random, test == 0, false), chosen[buffer]);
        }
      }
      if (random() % 2 == 0) rule.fast(0, 0);
      rules.push_back(rule);
    }
    std::array<std::string, 3> values;
    for (std::string& value : values) value = by_hand::letters(random, 1 + random() % 60);
    Numbers wanted;
    for (std::uint32_t number = 0; number < rules.size(); ++number) {
      const bool match = std::ranges::all_of(rules[number].buffers, [&](const BufferTests& tests) {
        const auto place = std::ranges::find(kBuffers, tests.buffer) - kBuffers;
        return by_hand::ContentOracle{values[static_cast<std::size_t>(place)], tests.tests}
            .matches();
      });
      if (match) wanted.push_back(number);
      ++(match ? matches : others);
    }
    Exchange exchange(rules);
    Numbers found;
    const auto look = [&] {
      const Numbers numbers = exchange.look(kRequest);
      found.insert(found.end(), numbers.begin(), numbers.end());
    };
    exchange.transaction.put(kRequest, kBuffers[0], values[0]);
    if (random() % 2 == 0) look();
    exchange.transaction.put(kRequest, kBuffers[1], values[1]);
    if (random() % 2 == 0) look();
    for (std::size_t at = 0; at < values[2].size();) {
      const std::size_t bytes = std::min(values[2].size() - at, std::size_t{1} + random() % 9);
      exchange.transaction.append(kRequest, kBuffers[2], values[2].substr(at, bytes), kLimit);
      at += bytes;
      look();
    }
    exchange.transaction.complete(kRequest);
    look();
    std::ranges::sort(found);
    ASSERT_EQ(found, wanted) << "seed " << seed;
  }
  EXPECT_GT(matches, 500u);
  EXPECT_GT(others, 1'000u);
}

}  // namespace
}  // namespace millrace
