// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/ids/protocols/tls_wire.hpp"

namespace millrace {
namespace {

constexpr char kDropPage[] =
    "drop http any any -> any any (flow:to_server; http.uri; content:\"/secret\"; sid:1;)\n";

/// A transaction that is longer than what its stream keeps, and a worker that knows nothing of it.
class FlowWatchLostTest : public IdsStage {
 protected:
  void lose_parser(const Settings& more = {}) {
    Settings settings{{"history_kb", "1"}, {"window_kb", "64"}};
    settings.insert(settings.end(), more.begin(), more.end());
    use(kDropPage, settings);
    open();
    EXPECT_EQ(client("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"), kPasses);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(client(std::string(1000, 'a')), kPasses);
      EXPECT_EQ(server(""), kPasses);
    }
    start();
  }
};

TEST_F(FlowWatchLostTest, EndsWithWhatTheClientSendsOn) {
  lose_parser();
  EXPECT_EQ(server("HTTP/1.1 100 Continue\r\n\r\n"), kPasses);  // what is under way ends well
  EXPECT_EQ(hits(IdsCounter::kLostParser), 1u);
  EXPECT_EQ(client(std::string(1000, 'a')), kCostly);
  EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kByRule);
  EXPECT_EQ(server("answer"), kByRule);
}

TEST_F(FlowWatchLostTest, PassesWhereNothingIsDropped) {
  for (const Settings& more : {Settings{{"unreadable", "pass"}}, Settings{{"learn", "true"}}}) {
    lose_parser(more);
    EXPECT_EQ(client(std::string(1000, 'a')), kPasses);
    EXPECT_GE(hits(IdsCounter::kLostParser), 1u);
    EXPECT_EQ(client("GET /secret HTTP/1.1\r\n\r\n"), kPasses);
  }
}

TEST_F(FlowWatchLostTest, WhatItsParserGivesUpIsDropped) {
  const std::string head(70'000, 'a');
  for (const bool drops : {true, false}) {
    use(kDropPage, {{"unreadable", drops ? "drop" : "pass"}, {"window_kb", "64"}});
    open();
    EXPECT_EQ(client("GET /a HTTP/1.1\r\nHost: "), kPasses);
    int fate = kPasses;
    for (std::size_t at = 0; at < head.size() && fate == kPasses; at += 1000) {
      fate = client(head.substr(at, 1000));
      EXPECT_EQ(server(""), fate == kPasses ? kPasses : kByRule);
    }
    EXPECT_EQ(fate, drops ? kCostly : kPasses);
    EXPECT_EQ(client("\r\n\r\nGET /secret HTTP/1.1\r\n\r\n"), drops ? kByRule : kPasses);
  }
}

/// An answer that is none ends nothing where no rule asks for answers.
TEST_F(FlowWatchLostTest, WhatNoRuleWithDropAsksForMayBeUnreadable) {
  use(std::string(kDropPage) +
      "alert http any any -> any any (flow:to_client; http.stat_code; content:\"404\"; sid:9;)\n");
  open();
  EXPECT_EQ(client("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
  EXPECT_EQ(server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), kPasses);
  EXPECT_EQ(server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"), kPasses);
  EXPECT_EQ(client("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
}

/// A server may ask for another ClientHello, and takes the name of that.
TEST_F(FlowWatchLostTest, TheNameOfASecondHelloCounts) {
  use("drop tls any any -> any any (tls.sni; content:\"evil\"; sid:1;)\n");
  open();
  const auto hello = [](const std::string& name) {
    return tls_record(22, tls_handshake(1, client_hello_body({0x1301}, tls_server_name(name))));
  };
  EXPECT_EQ(client(hello("good.test")), kPasses);
  EXPECT_EQ(client(tls_record(20, "\1") + hello("evil.test")), kByRule);
}

constexpr char kConnect[] = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char kRefusal[] = "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n";
constexpr char kSecret[] = "GET /secret HTTP/1.1\r\nHost: a\r\n\r\n";

/// A server that refuses CONNECT has what stands behind it by then.
TEST_F(FlowWatchLostTest, WhatStandsBehindConnectIsLookedAtAtOnce) {
  use(kDropPage);
  open();
  EXPECT_EQ(client(std::string(kConnect) + kSecret), kByRule);
  open(40'001);
  EXPECT_EQ(client(kConnect, 40'001), kPasses);
  EXPECT_EQ(client("GET /sec", 40'001), kPasses);
  EXPECT_EQ(client("ret HTTP/1.1\r\n\r\n", 40'001), kByRule);
}

TEST_F(FlowWatchLostTest, WhatStandsBehindConnectGoesOn) {
  use(kDropPage);
  open();
  EXPECT_EQ(client(std::string(kConnect) + "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"), kPasses);
  EXPECT_EQ(server(kRefusal), kPasses);
  EXPECT_EQ(client(kConnect), kPasses);
  EXPECT_EQ(server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), kPasses);
  EXPECT_EQ(server(kRefusal), kPasses);
  EXPECT_EQ(client(kSecret), kByRule);
  open(40'001);  // a tunnel
  EXPECT_EQ(client(std::string(kConnect) + "\x16\x03\x01", 40'001), kPasses);
  EXPECT_EQ(server("HTTP/1.1 200 OK\r\n\r\n", 40'001), kPasses);
  EXPECT_EQ(client(kSecret, 40'001), kPasses);
}

TEST_F(FlowWatchLostTest, TooManyConnectsAreNotRead) {
  use(kDropPage);
  open();
  std::string all;
  for (int i = 0; i < 3; ++i) all += kConnect;
  EXPECT_EQ(client(all), kPasses);
  open(40'001);
  for (int i = 0; i < 8; ++i) all += kConnect;
  EXPECT_EQ(client(all + kSecret, 40'001), kCostly);
}

}  // namespace
}  // namespace millrace
