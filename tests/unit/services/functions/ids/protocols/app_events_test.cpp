// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/app_events.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "services/functions/ids/protocols/dns_message.hpp"
#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"

namespace millrace {
namespace {

using EventNames = std::vector<std::string>;

/// Of what one direction has told, by number and direction.
EventNames events_in(AppRecorder& told, std::uint64_t number, std::uint8_t direction) {
  return told.records[{number, direction}].buffers[RuleBuffer::kAppEvent];
}

TEST(AppEvents, AreOfTheParserThatTellsThem) {
  EXPECT_EQ(app_events::owner_of("dns.z_flag_set"), AppProtocol::kDns);
  EXPECT_EQ(app_events::owner_of("http.missing_host_header"), AppProtocol::kHttp);
  EXPECT_EQ(app_events::owner_of("dns.z_flag"), std::nullopt);
  EXPECT_EQ(app_events::owner_of("tls.invalid_sslv2_header"), std::nullopt);
  Transaction one(AppProtocol::kDns, 0);
  app_events::put(one, 1, "dns.z_flag_set");
  app_events::put(one, 1, "dns.z_flag_set");
  EXPECT_EQ(one.parts(1, RuleBuffer::kAppEvent).size(), 1u);
  EXPECT_TRUE(one.parts(0, RuleBuffer::kAppEvent).empty());
}

/// Message with other flags: opcode and Z.
std::string dns_with_flags(std::uint16_t id, bool is_answer, std::uint16_t flags) {
  std::string message = dns_message(id, is_answer, {dns_name({"a", "org"})});
  message.replace(2, 2, dns_u16((is_answer ? 0x8000u : 0u) | flags));
  return message;
}

struct DnsDatagrams {
  explicit DnsDatagrams(bool tells) {
    AppLimits limits;
    limits.tells_events = tells;
    session.emplace(limits);
  }
  void send(std::uint8_t direction, const std::string& message) {
    session->read_datagram(direction, app_bytes(message), 53, told);
  }
  std::optional<AppSession> session;
  AppRecorder told;
};

TEST(AppEvents, OfDnsAreToldWithTheirMessages) {
  DnsDatagrams flow(true);
  flow.send(0, dns_with_flags(1, false, 0x0040));
  EXPECT_EQ(events_in(flow.told, 0, 0), EventNames{"dns.z_flag_set"});
  flow.send(1, dns_with_flags(1, true, 0x4840));
  EXPECT_EQ(events_in(flow.told, 0, 1), (EventNames{"dns.z_flag_set", "dns.invalid_opcode"}));
  flow.send(0, dns_with_flags(2, false, 0x3000));
  EXPECT_EQ(events_in(flow.told, 1, 0), EventNames{}) << "opcode 6";
  std::string cut = dns_with_flags(3, false, 0);
  cut.pop_back();
  flow.send(0, cut);
  EXPECT_EQ(events_in(flow.told, 2, 0), EventNames{"dns.malformed_data"});
  flow.send(0, dns_with_flags(4, true, 0));
  EXPECT_EQ(events_in(flow.told, kNoTransaction, 0), EventNames{"dns.not_a_request"});
  flow.send(1, dns_with_flags(4, false, 0));
  EXPECT_EQ(events_in(flow.told, kNoTransaction, 1), EventNames{"dns.not_a_response"});
  flow.send(1, "short");
  EXPECT_EQ(events_in(flow.told, kNoTransaction, 1), EventNames{"dns.malformed_data"});
  flow.send(1, dns_with_flags(99, true, 0x0040));
  EXPECT_EQ(events_in(flow.told, kNoTransaction, 1), EventNames{"dns.z_flag_set"})
      << "nothing was asked";
}

TEST(AppEvents, OfDnsAreLeftOutWhereNoRuleAsks) {
  DnsDatagrams flow(false);
  flow.send(0, dns_with_flags(1, false, 0x0040));
  flow.send(1, dns_with_flags(99, true, 0x0040));
  EXPECT_EQ(flow.told.told, 1u);
  EXPECT_EQ(events_in(flow.told, 0, 0), EventNames{});
}

TEST(AppEvents, OfDnsSayWhetherARecordIsCut) {
  std::string message = dns_message(1, true, {dns_name({"a"})});
  message.replace(6, 2, dns_u16(1));
  message += dns_name({"a"}) + dns_u16(1) + dns_u16(1) + dns_u16(0) + dns_u16(9) + dns_u16(4);
  const auto is_whole = [](const std::string& text) {
    return is_whole_dns(app_bytes(text), *dns_header(app_bytes(text)));
  };
  EXPECT_FALSE(is_whole(message + "123"));
  EXPECT_TRUE(is_whole(message + "1234"));
  EXPECT_TRUE(is_whole(message + "12345")) << "what is behind does not count";
  for (std::size_t bytes = 12; bytes < message.size(); ++bytes) {
    EXPECT_FALSE(is_whole(message.substr(0, bytes))) << bytes;
  }
}

EventNames events_of_request(const std::string& request) {
  AppSession session{AppLimits{}};
  AppRecorder told;
  session.read(0, app_bytes(request), 80, told);
  return events_in(told, 0, 0);
}

TEST(AppEvents, OfRequestsAreThoseThatLibhtpFlags) {
  EXPECT_EQ(events_of_request("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), EventNames{});
  EXPECT_EQ(events_of_request("GET / HTTP/1.1\r\nA: b\r\n\r\n"),
            EventNames{"http.missing_host_header"});
  EXPECT_EQ(events_of_request("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"),
            EventNames{"http.host_header_ambiguous"});
  EXPECT_EQ(events_of_request("GET / HTTP/1.1\r\nHost: a..b\r\n\r\n"),
            EventNames{"http.header_host_invalid"});
  EXPECT_EQ(events_of_request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"),
            EventNames{"http.invalid_content_length_field_in_request"});
  EXPECT_EQ(events_of_request("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: word\r\n\r\n"),
            EventNames{"http.invalid_transfer_encoding_value_in_request"});
}

}  // namespace
}  // namespace millrace
