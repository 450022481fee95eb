// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/tls_parser.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/tls_wire.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kCcs = 20, kAlertRecord = 21, kHandshakeRecord = 22, kData = 23;

std::string hello_of_client(const std::string& name = "a.example") {
  return tls_handshake(1, client_hello_body({0x1301}, tls_server_name(name)));
}
std::string hello_of_server() {
  return tls_handshake(2, server_hello_body(0xc02f, tls_extension(0xff01, std::string(1, '\0'))));
}
const std::string& server_certificate() {
  static const std::string der = make_certificate({{"CN", "a.example"}}, {{"O", "CA"}}, 0x1ab);
  return der;
}

struct TlsFlow {
  explicit TlsFlow(AppLimits limits = {}, std::uint64_t transactions = 0)
      : parser(limits, transactions) {}
  void client(const std::string& text) { parser.read(0, app_bytes(text), told); }
  void server(const std::string& text) { parser.read(1, app_bytes(text), told); }

  TlsParser parser;
  AppRecorder told;
};

TEST(TlsParser, AHandshakeIsOneTransaction) {
  TlsFlow flow;
  const std::string hello = tls_record(kHandshakeRecord, hello_of_client());
  flow.client(hello);
  const AppRecord& of_client = flow.told.record(0, 0);
  EXPECT_EQ(of_client.value(RuleBuffer::kTlsSni), "a.example");
  EXPECT_EQ(of_client.value(RuleBuffer::kTlsVersion), "1.2");
  EXPECT_EQ(of_client.value(RuleBuffer::kJa3String), "771,4865,0,,");
  EXPECT_EQ(of_client.value(RuleBuffer::kJa3Hash).size(), 32u);
  EXPECT_EQ(of_client.value(RuleBuffer::kJa4).substr(0, 10), "t12d010100");
  EXPECT_FALSE(of_client.is_complete);
  flow.server(tls_record(
      kHandshakeRecord,
      hello_of_server() + tls_handshake(11, certificates_body({server_certificate(), "next"}))));
  const AppRecord& of_server = flow.told.record(0, 1);
  EXPECT_EQ(of_server.value(RuleBuffer::kTlsVersion), "1.2");
  EXPECT_EQ(of_server.value(RuleBuffer::kJa3sString), "771,49199,65281");
  EXPECT_EQ(of_server.value(RuleBuffer::kTlsSubject), "CN=a.example");
  EXPECT_EQ(of_server.value(RuleBuffer::kTlsIssuer), "O=CA");
  EXPECT_EQ(of_server.value(RuleBuffer::kTlsSerial), "01:AB");
  EXPECT_EQ(of_server.buffers.at(RuleBuffer::kTlsCerts),
            (std::vector<std::string>{server_certificate(), "next"}));
  EXPECT_EQ(of_server.value(RuleBuffer::kTlsFingerprint).size(), 59u);

  const std::string end = tls_record(kCcs, "\1") + tls_record(kHandshakeRecord, "encrypted");
  flow.client(end);
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  EXPECT_EQ(flow.parser.settled(0), 0u);
  flow.server(end);
  EXPECT_TRUE(flow.parser.is_done());
  EXPECT_EQ(flow.parser.transactions(), 1u);
  EXPECT_EQ(flow.parser.settled(0), hello.size() + end.size());
  EXPECT_FALSE(flow.parser.is_broken(0) || flow.parser.is_broken(1));
}

TEST(TlsParser, MessagesLieAcrossRecordsOfAnySize) {
  const std::string hello = hello_of_client();
  for (std::size_t size = 1; size < hello.size(); size += 7) {
    TlsFlow flow;
    std::string records;
    for (std::size_t at = 0; at < hello.size(); at += size) {
      records += tls_record(kHandshakeRecord, hello.substr(at, size));
      records += tls_record(kAlertRecord, "??") + tls_record(kCcs, "\1");
    }
    flow.server(tls_record(kHandshakeRecord, hello_of_server()));
    flow.client(records);
    EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kTlsSni), "a.example");
    EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  }
}

const std::vector<std::string> kBoth = {"a.example", "b.example"};

TEST(TlsParser, ASecondHelloSaysAnotherName) {
  TlsFlow flow;
  flow.client(tls_record(kHandshakeRecord, hello_of_client() + hello_of_client()));
  EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kTlsSni), "a.example");
  flow.client(tls_record(kHandshakeRecord, hello_of_client("b.example")));
  EXPECT_EQ(flow.told.record(0, 0).buffers.at(RuleBuffer::kTlsSni), kBoth);
}

/// A client that knows that its server will ask again does not wait for that.
TEST(TlsParser, AHelloBehindARetryRequestIsRead) {
  const std::string random(
      "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
      "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c");
  const std::string retry = tls_record(
      kHandshakeRecord, tls_handshake(2, server_hello_body(0x1301, "").replace(2, 32, random)));
  for (const bool waits : {true, false}) {
    TlsFlow flow;
    flow.client(tls_record(kHandshakeRecord, hello_of_client()));
    if (waits) flow.server(retry + tls_record(kCcs, "\1"));
    flow.client(tls_record(kCcs, "\1") + tls_record(kData, "early"));
    if (!waits) flow.server(retry);
    EXPECT_FALSE(flow.parser.is_done());
    flow.client(tls_record(kHandshakeRecord, hello_of_client("b.example")));
    EXPECT_EQ(flow.told.record(0, 0).buffers.at(RuleBuffer::kTlsSni), kBoth);
    flow.client(tls_record(kData, "x"));
    EXPECT_TRUE(flow.told.record(0, 0).is_complete);
    EXPECT_FALSE(flow.parser.is_broken(0));
  }
}

/// No server's Hello comes by.
TEST(TlsParser, EarlyDataHaveABound) {
  TlsFlow flow({.header_bytes = 1000});
  flow.client(tls_record(kHandshakeRecord, hello_of_client()));
  flow.client(tls_record(kData, std::string(900, 'x')));
  EXPECT_FALSE(flow.told.record(0, 0).is_complete);
  flow.client(tls_record(kData, std::string(200, 'x')));
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
}

TEST(TlsParser, HellosOfTheOtherSideSayNothing) {
  TlsFlow flow;
  flow.client(tls_record(kHandshakeRecord, hello_of_server()));
  flow.server(tls_record(kHandshakeRecord, hello_of_client()));
  EXPECT_EQ(flow.told.told, 0u);
}

TEST(TlsParser, ApplicationDataEndsAHandshake) {
  TlsFlow flow;
  flow.client(tls_record(kHandshakeRecord, hello_of_client()));
  flow.server(tls_record(kHandshakeRecord, hello_of_server()));
  flow.client(tls_record(kData, "x"));
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  EXPECT_FALSE(flow.parser.is_broken(0));
  TlsFlow other;
  other.server(tls_record(kData, "x"));
  EXPECT_TRUE(other.parser.is_broken(1));
}

TEST(TlsParser, OtherRecordsBreakADirection) {
  const std::string long_record = tls_number(22, 1) + tls_number(0x0303, 2) + tls_number(18433, 2);
  for (const std::string& record :
       {tls_record(99, "x"), std::string("GET / HTTP/1.1"), long_record}) {
    TlsFlow flow;
    flow.client(record);
    EXPECT_TRUE(flow.parser.is_broken(0));
    EXPECT_TRUE(flow.told.record(0, 0).is_complete);
    EXPECT_FALSE(flow.parser.is_broken(1));
  }
}

TEST(TlsParser, AHandshakeBeyondTheLimitTellsWhatIsWhole) {
  const std::string chain =
      certificates_body({server_certificate(), std::string(60'000, 'x'), std::string(9000, 'y')});
  TlsFlow flow;
  const std::string messages = hello_of_server() + tls_handshake(11, chain);
  for (std::size_t at = 0; at < messages.size(); at += 10'000) {
    flow.server(tls_record(kHandshakeRecord, messages.substr(at, 10'000)));
  }
  const AppRecord& of_server = flow.told.record(0, 1);
  EXPECT_TRUE(flow.parser.is_broken(1));
  EXPECT_TRUE(of_server.is_complete);
  EXPECT_EQ(of_server.value(RuleBuffer::kTlsSubject), "CN=a.example");
  EXPECT_EQ(of_server.buffers.at(RuleBuffer::kTlsCerts).size(), 2u);
}

TEST(TlsParser, ALongHelloTellsItsNameButNoFingerprint) {
  TlsFlow flow({.header_bytes = 200});
  flow.client(tls_record(
      kHandshakeRecord,
      tls_handshake(1, client_hello_body({1}, tls_server_name("a.example") +
                                                  tls_extension(21, std::string(300, 'x'))))));
  EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kTlsSni), "a.example");
  EXPECT_EQ(flow.told.record(0, 0).value(RuleBuffer::kJa3Hash), "(none)");
}

TEST(TlsParser, CertificatesThatAreNoneHaveAFingerprintOnly) {
  TlsFlow flow;
  flow.server(tls_record(kHandshakeRecord, tls_handshake(11, certificates_body({"abc"})) +
                                               tls_handshake(11, certificates_body({"d"}))));
  EXPECT_EQ(flow.told.record(0, 1).value(RuleBuffer::kTlsFingerprint).substr(0, 5), "a9:99");
  EXPECT_EQ(flow.told.record(0, 1).value(RuleBuffer::kTlsSubject), "(none)");
  TlsFlow without;
  without.server(tls_record(kHandshakeRecord, tls_handshake(11, certificates_body({}))));
  EXPECT_EQ(without.told.told, 0u);
}

TEST(TlsParser, AnEndCompletesItsDirection) {
  TlsFlow flow;
  flow.client(tls_record(kHandshakeRecord, hello_of_client()));
  flow.parser.end(0, flow.told);
  flow.parser.end(0, flow.told);
  EXPECT_TRUE(flow.told.record(0, 0).is_complete);
  EXPECT_EQ(flow.told.told, 2u);
  flow.parser.end(1, flow.told);
  EXPECT_TRUE(flow.parser.is_done());
}

TEST(TlsParser, BehindAHandshakeThereIsNone) {
  TlsFlow flow({}, 1);
  EXPECT_TRUE(flow.parser.is_done());
  flow.client(tls_record(kHandshakeRecord, hello_of_client()));
  EXPECT_EQ(flow.told.told, 0u);
  EXPECT_EQ(flow.parser.transactions(), 1u);
}

}  // namespace
}  // namespace millrace
