// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/dns_json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "shared/layout/event_text.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;

class DnsJsonTest : public ::testing::Test {
 protected:
  void header(std::uint16_t id, std::uint16_t flags) {
    const std::array<std::uint16_t, 2> numbers{id, flags};
    text_.put(EventField::kDnsHeader, std::as_bytes(std::span(numbers)), SIZE_MAX);
  }
  void query(std::uint16_t type, const std::string& name) {
    text_.put(EventField::kDnsQuery, std::as_bytes(std::span(&type, 1)),
              std::as_bytes(std::span(name)), SIZE_MAX);
  }
  void answer(std::uint16_t type, const std::string& name, const std::string& data) {
    const EventDnsAnswer front{
        .ttl_s = 60, .type = type, .name_bytes = static_cast<std::uint16_t>(name.size())};
    const std::string value = name + data;
    text_.put(EventField::kDnsAnswer, std::as_bytes(std::span(&front, 1)),
              std::as_bytes(std::span(value)), SIZE_MAX);
  }
  Json shown(std::optional<std::uint64_t> transaction = 3) const {
    std::string out = "{";
    put_dns(text_.bytes(), transaction, out);
    return Json::parse(out + "}").at("dns");
  }

  EventTextWriter text_;
};

TEST_F(DnsJsonTest, AQuestionIsAsEveHasIt) {
  header(7, 0x0100);
  query(28, "a \"b\".test");
  EXPECT_EQ(shown(), Json::parse(R"({"version": 2, "type": "query", "id": 7, "tx_id": 3,
                                     "opcode": 0, "rrname": "a \"b\".test", "rrtype": "AAAA"})"));
}

TEST_F(DnsJsonTest, AnAnswerIsAsEveHasIt) {
  header(7, 0x8583);
  query(1, "a.test");
  answer(5, "a.test", "b.test");
  answer(1, "b.test", "192.0.2.1");
  answer(1, "b.test", "192.0.2.2");
  answer(6, "b.test", "");
  EXPECT_EQ(shown(), Json::parse(R"({"version": 2, "type": "answer", "id": 7, "flags": "8583",
      "qr": true, "aa": true, "rd": true, "ra": true, "opcode": 0, "rrname": "a.test",
      "rrtype": "A", "rcode": "NXDOMAIN", "answers": [
        {"rrname": "a.test", "rrtype": "CNAME", "ttl": 60, "rdata": "b.test"},
        {"rrname": "b.test", "rrtype": "A", "ttl": 60, "rdata": "192.0.2.1"},
        {"rrname": "b.test", "rrtype": "A", "ttl": 60, "rdata": "192.0.2.2"},
        {"rrname": "b.test", "rrtype": "SOA", "ttl": 60}],
      "grouped": {"A": ["192.0.2.1", "192.0.2.2"], "CNAME": ["b.test"]}})"));
}

TEST_F(DnsJsonTest, NumbersWithoutANameAreShownAsNumbers) {
  header(1, 0x804f);
  query(9999, "x");
  const Json json = shown();
  EXPECT_EQ(json["rcode"], "15");
  EXPECT_EQ(json["rrtype"], "9999");
  EXPECT_EQ(json["z"], true);
  EXPECT_FALSE(json.contains("answers") || json.contains("grouped"));
}

TEST_F(DnsJsonTest, FieldsThatAreTooShortAreLeftOut) {
  text_.put(EventField::kDnsHeader, "a", 1);
  text_.put(EventField::kDnsQuery, "b", 1);
  text_.put(EventField::kDnsAnswer, "1234567", 7);
  const EventDnsAnswer front{.ttl_s = 1, .type = 1, .name_bytes = 900};
  text_.put(EventField::kDnsAnswer, std::as_bytes(std::span(&front, 1)),
            std::as_bytes(std::span("name", 4)), 4);
  EXPECT_EQ(shown({}), Json::parse(R"({"version": 2, "type": "query", "id": 0, "opcode": 0})"));
}

}  // namespace
}  // namespace millrace
