// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/dns_parser.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"

namespace millrace {
namespace {

std::string query(std::uint16_t id, const std::string& label) {
  return over_tcp(dns_message(id, false, {dns_name({label, "org"})}));
}
std::string answer(std::uint16_t id) { return over_tcp(dns_message(id, true, {dns_name({"a"})})); }

struct DnsFlow {
  explicit DnsFlow(AppLimits limits = {}, std::uint64_t transactions = 0)
      : parser(limits, transactions) {}
  void ask(const std::string& text) { parser.read(0, app_bytes(text), told); }
  void reply(const std::string& text) { parser.read(1, app_bytes(text), told); }

  DnsParser parser;
  AppRecorder told;
};

TEST(DnsParser, AQueryIsATransactionThatItsAnswerCompletes) {
  DnsFlow flow;
  flow.ask(query(7, "Ab"));
  EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kDnsQuery), "Ab.org");
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  EXPECT_EQ(flow.told.record(0, 0).protocol, AppProtocol::kDns);
  EXPECT_EQ(flow.parser.transactions(), 0u);
  flow.reply(answer(8));
  EXPECT_EQ(flow.told.told, 1u);
  flow.reply(answer(7));
  EXPECT_TRUE(flow.told.record(0, 1).is_complete);
  EXPECT_EQ(flow.parser.transactions(), 1u);
  EXPECT_EQ(flow.parser.settled(0), query(7, "Ab").size());
  EXPECT_EQ(flow.parser.settled(1), 2 * answer(7).size());
}

TEST(DnsParser, MessagesMayComeInAnyPieces) {
  DnsFlow flow;
  const std::string text = query(1, "one") + query(2, "two") + "\0\4"s;
  for (const char letter : text) flow.ask(std::string(1, letter));
  EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kDnsQuery), "one.org");
  EXPECT_EQ(flow.told.record(1, 0).value(RuleBuffer::kDnsQuery), "two.org");
  flow.reply(answer(2) + answer(1));
  EXPECT_EQ(flow.parser.settled(0), text.size() - 2);
}

TEST(DnsParser, QueriesAreThroughInTheirOrder) {
  DnsFlow flow;
  const std::size_t query_bytes = query(1, "a").size(), answer_bytes = answer(1).size();
  flow.ask(query(1, "a") + query(2, "b") + query(3, "c") + query(4, "d"));
  flow.reply(answer(3));  // waits for those before
  EXPECT_EQ(flow.parser.transactions(), 0u);
  EXPECT_EQ(flow.parser.settled(1), 0u);
  flow.reply(answer(1));  // behind the answer of a query that is not through
  EXPECT_EQ(flow.parser.transactions(), 0u);
  EXPECT_EQ(flow.parser.settled(0), 0u);
  flow.reply(answer(2));
  EXPECT_EQ(flow.parser.transactions(), 3u);
  EXPECT_EQ(flow.parser.settled(0), 3 * query_bytes);
  EXPECT_EQ(flow.parser.settled(1), 3 * answer_bytes);
}

TEST(DnsParser, TheOldestQueryIsGivenUp) {
  DnsFlow flow({.transactions = 2});
  flow.ask(query(1, "a") + query(2, "b"));
  EXPECT_FALSE(flow.told.record(0, 1).is_complete);
  flow.ask(query(3, "c"));
  EXPECT_TRUE(flow.told.record(0, 1).is_complete);
  EXPECT_EQ(flow.parser.transactions(), 1u);
  EXPECT_EQ(flow.parser.settled(0), query(1, "a").size());
}

TEST(DnsParser, WithTheOldestQueryGoThoseUpToAnAnsweredOne) {
  DnsFlow flow({.transactions = 3});
  flow.ask(query(1, "a") + query(2, "b") + query(3, "c"));
  flow.reply(answer(2));
  flow.ask(query(4, "d"));
  EXPECT_EQ(flow.parser.transactions(), 2u);
  EXPECT_EQ(flow.parser.settled(0), 2 * query(1, "a").size());
  EXPECT_EQ(flow.parser.settled(1), answer(2).size());
}

TEST(DnsParser, AnEndOfAnswersCompletesAll) {
  DnsFlow flow;
  flow.ask(query(1, "a") + query(2, "b"));
  flow.parser.end(0, flow.told);
  EXPECT_EQ(flow.parser.transactions(), 0u);
  flow.parser.end(1, flow.told);
  EXPECT_TRUE(flow.told.record(0, 1).is_complete);
  EXPECT_TRUE(flow.told.record(1, 1).is_complete);
  EXPECT_EQ(flow.parser.transactions(), 2u);
}

TEST(DnsParser, MessagesOfTheWrongKindArePassedOver) {
  DnsFlow flow;
  flow.ask(answer(1) + over_tcp("short") + over_tcp(""));
  flow.reply(query(1, "a"));
  EXPECT_EQ(flow.told.told, 0u);
  EXPECT_EQ(flow.parser.settled(0), answer(1).size() + 7 + 2);
  flow.ask(query(1, "a"));
  EXPECT_EQ(flow.told.told, 1u);
}

TEST(DnsParser, AMessageBeyondTheLimitBreaksItsDirection) {
  DnsFlow flow({.header_bytes = 40});
  flow.ask(over_tcp(std::string(40, '\xff')));
  EXPECT_FALSE(flow.parser.is_broken(0));
  flow.ask(over_tcp(std::string(41, '\xff')) + query(1, "a"));
  EXPECT_TRUE(flow.parser.is_broken(0));
  EXPECT_EQ(flow.told.told, 0u);
  EXPECT_FALSE(flow.parser.is_done());
  flow.reply(over_tcp(std::string(41, 'x')));
  EXPECT_TRUE(flow.parser.is_done());
}

TEST(DnsParser, NumbersGoOn) {
  DnsFlow flow({}, 5);
  flow.ask(query(1, "a"));
  EXPECT_TRUE(flow.told.record(5, 0).is_complete);
  flow.reply(answer(1));
  EXPECT_EQ(flow.parser.transactions(), 6u);
}

TEST(DnsExchange, DatagramsHaveNoPlaces) {
  DnsExchange exchange({}, 0);
  AppRecorder told;
  for (const std::uint16_t id : {1, 2}) {
    exchange.message(0, app_bytes(dns_message(id, false, {dns_name({"a"})})), {}, told);
  }
  exchange.message(1, app_bytes(dns_message(2, true, {})), {}, told);
  EXPECT_EQ(exchange.transactions(), 0u);
  exchange.message(1, app_bytes(dns_message(1, true, {})), {}, told);
  EXPECT_EQ(exchange.transactions(), 2u);
}

}  // namespace
}  // namespace millrace
