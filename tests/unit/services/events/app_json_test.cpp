// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/app_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;

class AppJsonTest : public ::testing::Test {
 protected:
  void put(EventField field, std::string_view value, std::size_t value_max = SIZE_MAX) {
    text_.put(field, value, value_max);
  }
  Json shown() const {
    std::string out = "{";
    put_fields(text_.bytes(), 1, out);
    put_cut_fields(text_.bytes(), out);
    return Json::parse(out + "}");
  }

  EventTextWriter text_;
};

TEST_F(AppJsonTest, HttpIsAsEveHasIt) {
  const std::uint64_t length = std::uint64_t{1} << 33;
  text_.put(EventField::kHttpLength, std::as_bytes(std::span(&length, 1)), 8);
  put(EventField::kHttpHost, "a.test");
  put(EventField::kHttpPort, "8080");
  put(EventField::kHttpUrl, "/\xff\"");
  put(EventField::kHttpMethod, "GET");
  put(EventField::kHttpProtocol, "HTTP/1.1");
  put(EventField::kHttpStatus, "302");
  put(EventField::kHttpUserAgent, "curl");
  put(EventField::kHttpReferer, "r");
  put(EventField::kHttpContentType, "text/plain");
  put(EventField::kHttpLocation, "/there");
  EXPECT_EQ(shown(), Json::parse(R"({"http": {"hostname": "a.test", "http_port": 8080,
      "url": "/\ufffd\"", "http_user_agent": "curl", "http_content_type": "text/plain",
      "http_refer": "r", "http_method": "GET", "protocol": "HTTP/1.1", "status": 302,
      "redirect": "/there", "length": 8589934592}})"));
}

TEST_F(AppJsonTest, AStreamOfHttp2IsAsEveHasIt) {
  const std::uint32_t stream = 5;
  put(EventField::kHttpUrl, "/");
  text_.put(EventField::kHttp2Stream, std::as_bytes(std::span(&stream, 1)), sizeof stream);
  EXPECT_EQ(shown(),
            Json::parse(R"({"http": {"url": "/", "version": "2", "http2": {"stream_id": 5}}})"));
}

TEST_F(AppJsonTest, WhatIsNoNumberIsNoNumber) {
  put(EventField::kHttpStatus, "2x");
  put(EventField::kHttpPort, "99999999999999999999");
  put(EventField::kHttpLength, "abc");
  EXPECT_EQ(shown(), Json::parse(R"({"http": {"status_string": "2x"}})"));
}

TEST_F(AppJsonTest, TlsAndSshAreAsEveHasThem) {
  put(EventField::kTlsVersion, "TLS 1.2");
  put(EventField::kTlsServerName, "a.test");
  put(EventField::kTlsSubject, "CN=a");
  put(EventField::kTlsIssuer, "CN=b");
  put(EventField::kTlsSerial, "01");
  put(EventField::kTlsFingerprint, "aa:bb");
  put(EventField::kTlsNotBefore, "2026-01-01T00:00:00");
  put(EventField::kTlsNotAfter, "2027-01-01T00:00:00");
  put(EventField::kTlsJa3, "h");
  put(EventField::kTlsJa3String, "s");
  put(EventField::kTlsJa3s, "hs");
  put(EventField::kTlsJa4, "j4");
  put(EventField::kSshClientProtocol, "2.0");
  put(EventField::kSshClientSoftware, "OpenSSH");
  put(EventField::kSshServerSoftware, "other");
  EXPECT_EQ(shown(), Json::parse(R"({"tls": {"version": "TLS 1.2", "sni": "a.test",
      "subject": "CN=a", "issuerdn": "CN=b", "serial": "01", "fingerprint": "aa:bb",
      "notbefore": "2026-01-01T00:00:00", "notafter": "2027-01-01T00:00:00",
      "ja3": {"hash": "h", "string": "s"}, "ja3s": {"hash": "hs"}, "ja4": "j4"},
      "ssh": {"client": {"proto_version": "2.0", "software_version": "OpenSSH"},
              "server": {"software_version": "other"}}})"));
}

TEST_F(AppJsonTest, AMailHasItsRecipientsInAnArray) {
  put(EventField::kSmtpHelo, "a.test");
  put(EventField::kSmtpFrom, "<a@a.test>");
  put(EventField::kSmtpRecipient, "<b@b.test>");
  put(EventField::kSmtpRecipient, "<c@b.test>");
  EXPECT_EQ(shown(), Json::parse(R"({"smtp": {"helo": "a.test", "mail_from": "<a@a.test>",
      "rcpt_to": ["<b@b.test>", "<c@b.test>"]}})"));
}

TEST_F(AppJsonTest, ATunnelHasTheEndsOfThePacketAround) {
  EventTunnel tunnel{.source = {10, 0, 0, 1},
                     .destination = {10, 0, 0, 2},
                     .source_port = 1234,
                     .destination_port = 4789,
                     .ip_version = 4,
                     .protocol = 17,
                     .depth = 2,
                     .padding = 0};
  put(EventField::kTunnel, std::string(reinterpret_cast<const char*>(&tunnel), sizeof tunnel));
  EXPECT_EQ(shown(), Json::parse(R"({"tunnel": {"src_ip": "10.0.0.1", "src_port": 1234,
      "dest_ip": "10.0.0.2", "dest_port": 4789, "proto": "UDP", "depth": 2}})"));
}

TEST_F(AppJsonTest, BytesAreBase64) {
  put(EventField::kPayload, std::string("a\0b\r\n~\x7f", 7));
  put(EventField::kPacket, "frame");
  EXPECT_EQ(shown(), Json::parse(R"({"payload": "YQBiDQp+fw==", "payload_printable": "a.b\r\n~.",
      "packet": "ZnJhbWU=", "packet_info": {"linktype": 1}})"));
}

TEST_F(AppJsonTest, WhatIsCutIsNamed) {
  put(EventField::kHttpUrl, "/long", 3);
  put(EventField::kHttpUserAgent, "x", 0);
  put(EventField::kPayload, "ab", 1);
  EXPECT_EQ(shown(), Json::parse(R"({"http": {"url": "/lo"}, "payload": "YQ==",
      "payload_printable": "a", "cut": ["http.url", "http.http_user_agent", "payload"]})"));
}

TEST_F(AppJsonTest, ATextWithoutFieldsSaysNothing) { EXPECT_EQ(shown(), Json::object()); }

TEST_F(AppJsonTest, AnyBytesMakeValidJson) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    text_.clear();
    while (random() % 8 != 0) {
      std::string value(random() % 40, '\0');
      for (char& byte : value) byte = static_cast<char>(random());
      put(static_cast<EventField>(random() % static_cast<unsigned>(EventField::kCount)), value,
          random() % 40);
    }
    EXPECT_NO_THROW(shown());
  }
}

}  // namespace
}  // namespace millrace
