// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/app_probe.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"

namespace millrace {
namespace {

using std::string_literals::operator""s;

struct ProbeCase {
  std::string client, server;
  std::uint16_t port;
  AppProtocol protocol;
};

const std::string kDnsQueryOverTcp = "\0\x13\x12\x34\x01\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"s;
const std::string kDnsAnswerOverTcp = "\0\x13\x12\x34\x81\x80\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"s;

const std::vector<ProbeCase>& probe_cases() {
  using enum AppProtocol;
  static const std::vector<ProbeCase> cases = {
      {"GET / HTTP/1.1\r\n", "", 80, kHttp},
      {"get\t/", "", 8080, kHttp},
      {"\r\n\r\nPOST /x", "", 80, kHttp},
      {"VERSION-CONTROL ", "", 80, kHttp},
      {"XYZ /index.php HTTP/1.1", "", 80, kHttp},
      {"xyz  HTTP://a/", "", 80, kHttp},
      {"GET", "", 80, kUnknown},
      {"GETS x", "", 80, kUnknown},
      {"G(T /", "", 80, kUnknown},
      {" /", "", 80, kUnknown},
      {"XYZ x HTTP/1.1", "HTTP/1.1 200 OK", 80, kHttp},
      {"", "HTTP/", 1, kHttp},
      {"\x16\x03\x01\x02\0\x01"s, "", 443, kTls},
      {"\x15\x03\x01\0\2\1\x5a\x16\x03\x01\x02\0\x01"s, "", 443, kTls},
      {"\x15\x03\x01\0\2\1"s, "", 443, kUnknown},
      {"\x16\x03\x01\x02\0"s, "", 443, kUnknown},
      {"\x16\x03\x05\x02\0\x01"s, "", 443, kUnknown},
      {"\x16\x03\x01\x02\0\x02"s, "", 443, kUnknown},
      {"", "\x16\x03\x03\0\x7a\x02"s, 443, kTls},
      {"\x80\x2e\x01\x03\x01\0\x15\0\0\0\x10"s, "", 443, kUnknown},  // SSL 2.0's Hello
      {"SSH-2.0-x\r\n", "", 22, kSsh},
      {"SSH-2.0-x", "", 22, kUnknown},  // a request may become of it
      {"SSH-x /evil HTTP", "", 22, kHttp},
      {"SSH-x y HTTP/1.0\r\n", "", 22, kHttp},
      {"HELO /evil", "", 80, kHttp},
      {"HELO a", "", 80, kUnknown},
      {"HELO a HTTP/1.1 \r\n", "", 80, kHttp},
      {"HELO a\r\n", "", 80, kSmtp},
      {"HELO a\r\n", "HTTP/1.1 400", 80, kHttp},
      {"EHLO " + std::string(251, 'a'), "", 25, kSmtp},
      {"", "SSH-", 2222, kSsh},
      {kDnsQueryOverTcp, "", 53, kDns},
      {kDnsQueryOverTcp.substr(0, 13), "", 53, kUnknown},
      {kDnsQueryOverTcp, "", 54, kUnknown},
      {kDnsAnswerOverTcp, "", 53, kUnknown},
      {"", kDnsAnswerOverTcp, 53, kDns},
      {"GET /index.html HTTP/1.1", "", 53, kHttp},
      {"", "220 mail", 25, kSmtp},
      {"", "220-mail", 587, kSmtp},
      {"", "220 mail", 2525, kUnknown},
      {"ehlo there\r\n", "220 mail", 2525, kSmtp},
      {"MAIL FROM:<a>\r\n", "", 25, kSmtp},
      {"", "220 ftp", 21, kFtp},
      {"USER a", "220 ftp", 2121, kFtp},
      {"PASS a", "220 ftp", 2121, kFtp},
      {"USER a", "+OK pop3", 110, kUnknown},
      {"USER a", "", 2121, kUnknown},
      {"\0\0\0\x2f\xffSMB"s, "", 445, kSmb},
      {"", "\0\0\0\x2f\xfeSMB"s, 445, kSmb},
      {"\x81\0\0\2xy\0\0\0\x2f\xfeSMB"s, "", 139, kSmb},
      {"\x81\0\0\2x"s, "", 139, kUnknown},
      {"\0\0\0\x2fxSMB"s, "", 445, kUnknown},
      {std::string(kAppProbeBytes, '\n'), "", 80, kHttp},
      {std::string(kAppProbeBytes - 1, '\n'), "", 80, kUnknown},
  };
  return cases;
}

TEST(AppProbe, FirstBytesTellTheProtocol) {
  for (const ProbeCase& probe : probe_cases()) {
    EXPECT_EQ(probe_stream({probe.client, probe.server}, probe.port), probe.protocol)
        << probe.client << " / " << probe.server << " / " << probe.port;
  }
}

TEST(AppProbe, WhatIsRecognisedStaysSoWithMoreBytes) {
  for (const ProbeCase& probe : probe_cases()) {
    AppProtocol before = AppProtocol::kUnknown;
    for (std::size_t i = 0; i <= probe.client.size() + probe.server.size(); ++i) {
      const std::size_t of_server = std::min(i, probe.server.size());
      const AppProtocol found = probe_stream(
          {probe.client.substr(0, i - of_server), probe.server.substr(0, of_server)}, probe.port);
      EXPECT_TRUE(before == AppProtocol::kUnknown || found == before) << probe.client;
      before = found;
    }
    EXPECT_EQ(before, probe.protocol);
  }
}

TEST(AppProbe, DatagramsOfPort53AreDns) {
  const std::string query = kDnsQueryOverTcp.substr(2), answer = kDnsAnswerOverTcp.substr(2);
  EXPECT_EQ(probe_datagram(0, app_bytes(query), 53), AppProtocol::kDns);
  EXPECT_EQ(probe_datagram(1, app_bytes(answer), 53), AppProtocol::kDns);
  EXPECT_EQ(probe_datagram(0, app_bytes(query), 5353), AppProtocol::kNone);
  EXPECT_EQ(probe_datagram(0, app_bytes(answer), 53), AppProtocol::kUnknown);
  EXPECT_EQ(probe_datagram(0, app_bytes("junk"), 53), AppProtocol::kUnknown);
}

}  // namespace
}  // namespace millrace
