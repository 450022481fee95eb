// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/app_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"
#include "tests/unit/services/functions/ids/protocols/tls_wire.hpp"
#include "tests/unit/services/functions/ids/told_lines.hpp"

namespace millrace {
namespace {

using Values = std::map<EventField, std::string>;

TEST(AppText, OfHttpHasWhatEveHas) {
  Transaction one(AppProtocol::kHttp, 0);
  one.put(0, RuleBuffer::kHttpMethod, "GET");
  one.put(0, RuleBuffer::kHttpRawUri, "/%41?q=" + std::string(600, 'q'));
  one.put(0, RuleBuffer::kHttpUri, "/A");
  one.put(0, RuleBuffer::kHttpHost, "a.test");
  one.put(0, RuleBuffer::kHttpRawHost, "A.test:8080");
  one.put(0, RuleBuffer::kHttpUserAgent, "curl");
  one.put(0, RuleBuffer::kHttpProtocol, "HTTP/1.1");
  one.put(1, RuleBuffer::kHttpProtocol, "HTTP/1.0");
  one.put(1, RuleBuffer::kHttpStatusCode, "302");
  one.put(1, RuleBuffer::kHttpLocation, "/b");
  one.put(0, RuleBuffer::kHttpContentType, "x/y");
  one.put(1, RuleBuffer::kHttpContentType, "text/html;charset=utf-8");
  one.body_bytes[1] = 77;
  one.complete(1);
  EventTextWriter text;
  put_http(one, text);
  Values values = values_of(text.bytes());
  const std::uint64_t length = 77;
  EXPECT_EQ(values.at(EventField::kHttpLength),
            std::string(reinterpret_cast<const char*>(&length), sizeof length));
  EXPECT_EQ(values.at(EventField::kHttpUrl), ("/%41?q=" + std::string(600, 'q')).substr(0, 512));
  values.erase(EventField::kHttpLength);
  values.erase(EventField::kHttpUrl);
  EXPECT_EQ(values, (Values{{EventField::kHttpMethod, "GET"},
                            {EventField::kHttpProtocol, "HTTP/1.1"},
                            {EventField::kHttpHost, "a.test"},
                            {EventField::kHttpPort, "8080"},
                            {EventField::kHttpUserAgent, "curl"},
                            {EventField::kHttpStatus, "302"},
                            {EventField::kHttpContentType, "text/html"},
                            {EventField::kHttpLocation, "/b"}}));
}

TEST(AppText, OfHttp2HasTheStream) {
  Transaction one(AppProtocol::kHttp2, 0);
  one.stream = 5;
  EventTextWriter text;
  put_http(one, text);
  EXPECT_EQ(values_of(text.bytes()),
            (Values{{EventField::kHttp2Stream, std::string("\5\0\0\0", 4)}}));
}

TEST(AppText, PortsStandBehindHosts) {
  for (const auto& [host, port] : {std::pair<std::string, std::string>{"a", "(none)"},
                                   {"[2001:db8::1]", "(none)"},
                                   {"[2001:db8::1]:80", "80"},
                                   {"a:", "(none)"}}) {
    Transaction one(AppProtocol::kHttp, 0);
    one.put(0, RuleBuffer::kHttpRawHost, host);
    EventTextWriter text;
    put_http(one, text);
    const Values values = values_of(text.bytes());
    const auto found = values.find(EventField::kHttpPort);
    EXPECT_EQ(found == values.end() ? "(none)" : found->second, port) << host;
  }
}

TEST(AppText, OfTlsHasTheCertificatesTimes) {
  Transaction one(AppProtocol::kTls, 0);
  one.put(0, RuleBuffer::kTlsVersion, "1.3");
  one.put(0, RuleBuffer::kTlsSni, "a.test");
  one.put(1, RuleBuffer::kTlsCerts, make_certificate({{"CN", "a"}}, {{"CN", "b"}}, 1));
  one.put(1, RuleBuffer::kTlsSubject, "CN=a");
  EventTextWriter text;
  put_tls(one, text);
  Values values = values_of(text.bytes());
  EXPECT_EQ(values.at(EventField::kTlsVersion), "TLS 1.3");
  EXPECT_EQ(values.at(EventField::kTlsServerName), "a.test");
  EXPECT_EQ(values.at(EventField::kTlsSubject), "CN=a");
  EXPECT_EQ(values.at(EventField::kTlsNotBefore).size(), 19u);
  one.put(1, RuleBuffer::kTlsVersion, "SSLv3");
  text.clear();
  put_tls(one, text);
  EXPECT_EQ(values_of(text.bytes()).at(EventField::kTlsVersion), "SSLv3") << "the server decides";
}

TEST(AppText, OfSshHasBothSides) {
  Transaction one(AppProtocol::kSsh, 0);
  one.put(0, RuleBuffer::kSshProtocol, "2.0");
  one.put(0, RuleBuffer::kSshSoftware, "client");
  one.put(1, RuleBuffer::kSshSoftware, "server");
  EventTextWriter text;
  put_ssh(one, text);
  EXPECT_EQ(values_of(text.bytes()), (Values{{EventField::kSshClientProtocol, "2.0"},
                                             {EventField::kSshClientSoftware, "client"},
                                             {EventField::kSshServerSoftware, "server"}}));
}

TEST(AppText, AMailHasWhatItsCommandsSay) {
  Transaction mail(AppProtocol::kSmtp, 0);
  mail.envelope = {.helo = "a.test", .from = "<a@a.test>", .recipients = {"<b@b.test>"}};
  EventTextWriter text;
  put_smtp(mail, text);
  EXPECT_EQ(values_of(text.bytes()), (Values{{EventField::kSmtpHelo, "a.test"},
                                             {EventField::kSmtpFrom, "<a@a.test>"},
                                             {EventField::kSmtpRecipient, "<b@b.test>"}}));
}

TEST(AppText, EachQuestionOfDnsIsATextOfItsOwn) {
  const std::string message = dns_message(7, false, {dns_name({"a", "test"}), dns_name({"b"})});
  const auto bytes = std::as_bytes(std::span(message));
  for (const auto& [question, name] :
       {std::pair<std::size_t, std::string>{0, "a.test"}, {1, "b"}}) {
    EventTextWriter text;
    ASSERT_TRUE(put_dns(bytes, question, text));
    EXPECT_EQ(values_of(text.bytes()).at(EventField::kDnsQuery), std::string("\x01\0", 2) + name);
  }
  EventTextWriter text;
  EXPECT_FALSE(put_dns(bytes, 2, text));
  EXPECT_FALSE(put_dns({}, 0, text));
  EXPECT_FALSE(put_dns(bytes.first(11), 0, text));
  const std::string empty = dns_message(7, true, {});
  EXPECT_TRUE(put_dns(std::as_bytes(std::span(empty)), 0, text)) << "an answer without a question";
}

}  // namespace
}  // namespace millrace
