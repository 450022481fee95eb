// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/app_session.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "services/functions/ids/protocols/app_probe.hpp"
#include "tests/unit/services/functions/ids/protocols/app_conversation.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"
#include "tests/unit/services/functions/ids/protocols/tls_wire.hpp"

namespace millrace {
namespace {

using Speeches = std::vector<AppSpeech>;

struct SessionCase {
  AppProtocol protocol;
  std::uint16_t port;
  Speeches speeches;
  std::uint64_t transactions;  ///< that are through behind it
};

Speeches dns_speeches() {
  const auto query = [](std::uint16_t id) {
    return over_tcp(dns_message(id, false, {dns_name({"q" + std::to_string(id), "org"})}));
  };
  const auto answer = [](std::uint16_t id) { return over_tcp(dns_message(id, true, {})); };
  return {{0, query(1) + query(2) + query(3)},
          {1, answer(3) + answer(1)},
          {0, query(4)},
          {1, answer(2) + answer(9) + answer(4)},
          {0, query(5) + query(5), true},
          {1, answer(5) + answer(5), true}};
}

Speeches tls_speeches() {
  const std::string data = tls_record(23, "data");
  const std::string certificate = make_certificate({{"CN", "a"}}, {{"CN", "b"}}, 5);
  return {{0, tls_record(22, tls_handshake(1, client_hello_body({1, 2}, tls_server_name("a.b"))))},
          {1, tls_record(22, tls_handshake(2, server_hello_body(1, "")) +
                                 tls_handshake(11, certificates_body({certificate})))},
          {0, tls_record(22, tls_handshake(16, "key")) + tls_record(20, "\1") + data},
          {1, tls_record(20, "\1") + data},
          {0, data}};
}

std::vector<SessionCase> session_cases() {
  return {
      {AppProtocol::kDns, 53, dns_speeches(), 6},
      {AppProtocol::kHttp,
       80,
       {{0, "GET /a HTTP/1.1\r\nHost: a\r\n\r\nHEAD /b HTTP/1.1\r\n\r\n"},
        {1, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1 204 No\r\n\r\n"},
        {0, "POST /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"},
        {1, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true}},
       3},
      {AppProtocol::kTls, 443, tls_speeches(), 1},
      {AppProtocol::kSsh, 22, {{1, "SSH-2.0-a\r\nkeys"}, {0, "SSH-2.0-b c\r\nkeys"}}, 1},
      {AppProtocol::kSmtp, 25, {{1, "220 mail ready\r\n"}, {0, "EHLO a\r\n"}}, 0},
      {AppProtocol::kFtp, 2121, {{1, "220 ready\r\n"}, {0, "USER a\r\n"}, {1, "331 go\r\n"}}, 0},
      {AppProtocol::kSmb, 445, {{0, std::string("\0\0\0\5\xfeSMB!", 9)}}, 0},
      {AppProtocol::kNone, 80, {{0, std::string(300, 'x')}, {1, "HTTP/1.1 200 OK\r\n\r\n"}}, 0},
      {AppProtocol::kNone, 80, {{0, "x", true}, {1, "y", true}}, 0},
      {AppProtocol::kUnknown, 80, {{0, "x"}, {1, "y", true}}, 0},
  };
}

void hear_whole(const SessionCase& of, AppConversation& conversation) {
  for (const AppSpeech& speech : of.speeches) conversation.speak(speech);
}

TEST(AppSession, ProtocolsAreRecognisedAndTheirTransactionsCounted) {
  for (const SessionCase& of : session_cases()) {
    AppConversation conversation(of.port);
    hear_whole(of, conversation);
    EXPECT_EQ(conversation.session().protocol(), of.protocol);
    EXPECT_EQ(conversation.session().transactions(), of.transactions);
  }
}

TEST(AppSession, InAnyPiecesAndMadeAnewItComesToTheSame) {
  constexpr int kRounds = 300;
  std::mt19937 random(1);
  for (const SessionCase& of : session_cases()) {
    AppConversation whole(of.port);
    hear_whole(of, whole);
    for (int round = 0; round < kRounds; ++round) {
      AppConversation cut(of.port);
      for (const AppSpeech& speech : of.speeches) {
        std::size_t at = 0;
        do {
          const std::size_t bytes = 1 + random() % (round % 2 == 0 ? 8 : 200);
          const bool is_last = at + bytes >= speech.text.size();
          cut.speak({speech.direction, speech.text.substr(at, bytes), is_last && speech.ends});
          at += bytes;
          if (random() % 8 == 0) cut.lose_session();
        } while (at < speech.text.size());
      }
      ASSERT_EQ(cut.told().records, whole.told().records);
      ASSERT_EQ(cut.session().protocol(), whole.session().protocol());
      ASSERT_EQ(cut.session().is_done(), whole.session().is_done());
      ASSERT_EQ(cut.session().transactions(), whole.session().transactions());
    }
  }
}

TEST(AppSession, NothingIsSettledUntilTheProtocolIsKnown) {
  AppSession session({});
  AppRecorder told;
  session.read(0, app_bytes("what"), 80, told);
  EXPECT_EQ(session.settled(0), 0u);
  EXPECT_FALSE(session.is_done());
  session.read(0, app_bytes(std::string(kAppProbeBytes, '?')), 80, told);
  EXPECT_EQ(session.protocol(), AppProtocol::kNone);
  EXPECT_TRUE(session.is_done());
  session.read(1, app_bytes("more"), 80, told);
  EXPECT_EQ(session.settled(0), kAppProbeBytes + 4);
  EXPECT_EQ(session.settled(1), 4u);
}

TEST(AppSession, RawProtocolsAreDoneAtOnce) {
  AppSession session({}, AppProtocol::kFtp, 0);
  EXPECT_TRUE(session.is_done());
  EXPECT_EQ(session.protocol(), AppProtocol::kFtp);
}

TEST(AppSession, DatagramsOfDnsAreTransactions) {
  AppSession session({});
  AppRecorder told;
  session.read_datagram(0, app_bytes("junk comes first"), 53, told);
  EXPECT_EQ(session.protocol(), AppProtocol::kUnknown);
  session.read_datagram(0, app_bytes(dns_message(1, false, {dns_name({"a", "org"})})), 53, told);
  EXPECT_EQ(session.protocol(), AppProtocol::kDns);
  EXPECT_EQ(told.record(0, 0).value(RuleBuffer::kDnsQuery), "a.org");
  session.read_datagram(1, app_bytes(dns_message(1, true, {})), 53, told);
  EXPECT_EQ(session.transactions(), 1u);
  EXPECT_FALSE(session.is_done());

  AppSession anew({}, AppProtocol::kDns, session.transactions());
  anew.read_datagram(0, app_bytes(dns_message(2, false, {dns_name({"b"})})), 53, told);
  EXPECT_EQ(told.record(1, 0).value(RuleBuffer::kDnsQuery), "b");
}

/// What sessions hold, each behind the same bytes, beside what the allocator has given for them.
TEST(AppSession, WhatItHoldsIsAboutWhatIsAllocated) {
  constexpr std::size_t kSessions = 200;
  std::string headers = "GET / HTTP/1.1\r\n", requests;
  for (int i = 0; i < 300; ++i) headers += "a" + std::to_string(i) + ":\r\n";
  for (int i = 0; i < 100; ++i) requests += "GET /" + std::string(50, 'u') + " HTTP/1.1\r\n\r\n";
  std::string queries;
  for (std::uint16_t i = 0; i < 60; ++i) {
    const std::string query = dns_message(i, false, {dns_name({"a", std::string(40, 'n')})});
    queries += std::string(1, '\0') + static_cast<char>(query.size()) + query;
  }
  const std::string hello =
      tls_record(22, tls_handshake(1, client_hello_body({1, 2}, tls_server_name("a.b"))));
  const std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\3\x4b\x4c", 12);
  const std::pair<std::uint16_t, std::string> cases[] = {
      {80, "GET /" + std::string(9'000, 'u')},
      {80, headers + "\r\n"},
      {80, requests},
      {80, "POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n" + std::string(60'000, 'b')},
      {80, "POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 99999\r\n\r\n" + gzip +
               std::string(4'000, 'b')},
      {53, queries},
      {443, hello.substr(0, hello.size() - 1)},
      {22, "SSH-2.0-" + std::string(200, 's')},
      {25, "EHLO a\r\nMAIL FROM:<a@b>\r\nDATA\r\nA: b\r\n\r\n" + std::string(30'000, 'm')}};
  for (const auto& [port, text] : cases) {
    SCOPED_TRACE(text.substr(0, 40));
    AppRecorder told;
    AppSession first({});  // what all sessions share is there behind it
    first.read(0, app_bytes(text), port, told);
    const std::size_t before = mallinfo2().uordblks;
    std::vector<std::unique_ptr<AppSession>> sessions;
    std::size_t held = 0;
    for (std::size_t i = 0; i < kSessions; ++i) {
      sessions.push_back(std::make_unique<AppSession>(AppLimits{}));
      sessions.back()->read(0, app_bytes(text), port, told);
      held += sessions.back()->held();
    }
    const std::size_t allocated = mallinfo2().uordblks - before;
    if (allocated == 0) GTEST_SKIP() << "another allocator: a sanitizer's";
    EXPECT_GT(held, allocated / 2);
    EXPECT_LT(held, allocated * 4);
  }
}

TEST(AppSession, OtherDatagramsAreNone) {
  AppSession session({});
  AppRecorder told;
  session.read_datagram(0, app_bytes(dns_message(1, false, {dns_name({"a"})})), 5353, told);
  EXPECT_EQ(session.protocol(), AppProtocol::kNone);
  EXPECT_TRUE(session.is_done());
}

}  // namespace
}  // namespace millrace
