// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "services/events/flow_identity.hpp"
#include "shared/layout/event_text.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kNoonNs = 1'795'608'000'123'456'789;  // 2026-11-25T12:00:00.123456789Z

class EventJsonTest : public ::testing::Test {
 protected:
  EventJsonTest() {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
    record_.sequence = 12;
    record_.lane = 4;  // the first one of the second path
    record_.packet = 3;
    record_.stream = 1;
    record_.function = 3;
    record_.ip_version = 4;
    record_.protocol = 17;
    record_.source = {10, 1, 0, 5};
    record_.destination = {192, 0, 2, 9};
    record_.source_port = 5000;
    record_.destination_port = 53;
  }
  void name(std::string_view text) {
    std::memset(record_.alert.name, 0, kEventNameBytes);
    text.copy(record_.alert.name, kEventNameBytes);
  }
  std::string line() {
    std::string out;
    put_event(record_, {.actor = "front.1", .number = 99, .time_ns = kNoonNs}, world_.plan, times_,
              out);
    return out;
  }

  test::SmallWorld world_;
  EventTimes times_;
  EventRecord record_{};
};

TEST_F(EventJsonTest, AnAlertIsALineAsEveHasIt) {
  record_.alert.rule = 7;
  record_.alert.action = EventAction::kBlocked;
  name("an ELF file");
  EXPECT_EQ(line(),
            "{\"timestamp\":\"2026-11-25T12:00:00.123456+0000\",\"event_type\":\"alert\","
            "\"flow_id\":" +
                std::to_string(flow_id_of(record_).value()) +
                ",\"community_id\":\"1:91DTYiH07i0jW9cztIUqC6ijUck=\","
                "\"in_iface\":\"b\",\"src_ip\":\"10.1.0.5\",\"src_port\":5000,"
                "\"dest_ip\":\"192.0.2.9\",\"dest_port\":53,\"proto\":\"UDP\","
                "\"alert\":{\"action\":\"blocked\",\"gid\":1,\"signature_id\":7,\"rev\":0,"
                "\"signature\":\"an ELF file\",\"category\":\"\",\"severity\":3},"
                "\"millrace\":{\"function\":\"fourth\",\"path\":\"short\",\"lane\":0,"
                "\"actor\":\"front.1\",\"record\":99,\"batch\":12,\"packet\":3}}\n");
}

TEST_F(EventJsonTest, ASignatureIsAnAlertByItsName) {
  SignatureName name;
  name.message = "ET TROJAN a beacon";
  record_.kind = EventKind::kSignature;
  record_.signature = {};
  record_.signature.sid = 2019401;
  record_.signature.gid = 1;
  std::string out;
  put_event(record_, {.actor = "front.1", .number = 99, .time_ns = kNoonNs, .signature = &name},
            world_.plan, times_, out);
  const Json json = Json::parse(out);
  EXPECT_EQ(json["event_type"], "alert");
  EXPECT_EQ(json["in_iface"], "b");
  EXPECT_EQ(json["alert"]["signature"], name.message);
  EXPECT_EQ(json["alert"]["signature_id"], 2019401);
  EXPECT_EQ(json["alert"]["action"], "allowed");
  EXPECT_EQ(json["millrace"]["batch"], 12);
}

TEST_F(EventJsonTest, AnAnomalySaysWhoseItIs) {
  record_ = {};
  record_.kind = EventKind::kAnomaly;
  record_.ip_version = 4;
  record_.source = {10, 0, 0, 1};
  record_.destination = {10, 0, 0, 1};
  record_.anomaly = {.type = AnomalyType::kAddressConflict, .mac = {2, 0, 0, 0, 0xab, 1}};
  const Json json = Json::parse(line());
  EXPECT_EQ(json["event_type"], "anomaly");
  EXPECT_EQ(json["anomaly"], Json::parse(R"({"type": "arp", "event": "address_conflict",
                                             "mac": "02:00:00:00:ab:01"})"));
  EXPECT_EQ(json["src_ip"], "10.0.0.1");
  EXPECT_FALSE(json.contains("src_port"));
  record_.ip_version = 6;
  EXPECT_EQ(Json::parse(line())["anomaly"]["type"], "nd");
}

TEST_F(EventJsonTest, AParserThatGivesUpIsAnAnomalyOfItsFlow) {
  record_.kind = EventKind::kAnomaly;
  record_.anomaly = {.type = AnomalyType::kAppUnreadable, .direction = FlowDirection::kToClient};
  std::memcpy(record_.anomaly.app, "http", 4);
  const Json json = Json::parse(line());
  EXPECT_EQ(json["anomaly"],
            Json::parse(R"({"type": "applayer", "event": "UNREADABLE", "layer": "proto_parser",
                            "app_proto": "http"})"));
  EXPECT_EQ(json["app_proto"], "http");
  EXPECT_EQ(json["direction"], "to_client");
  EXPECT_EQ(json["flow_id"], flow_id_of(record_).value());
}

TEST_F(EventJsonTest, ATransactionIsALineOfItsProtocol) {
  EventTextWriter text;
  text.put(EventField::kHttpUrl, std::string(200, 'u'), 150);
  record_.kind = EventKind::kApp;
  record_.app = {.transaction = EventCount(5), .app = EventApp::kHttp};
  std::string out;
  put_event(record_, {.actor = "front.1", .number = 99, .time_ns = kNoonNs, .text = text.bytes()},
            world_.plan, times_, out);
  const Json json = Json::parse(out);
  EXPECT_EQ(json["event_type"], "http");
  EXPECT_EQ(json["tx_id"], 5);
  EXPECT_EQ(json["src_ip"], "10.1.0.5");
  EXPECT_EQ(json["flow_id"], flow_id_of(record_).value());
  EXPECT_EQ(json["http"]["url"], std::string(150, 'u'));
  EXPECT_EQ(json["millrace"]["records"], 3);
  EXPECT_EQ(json["millrace"]["cut"], Json::parse(R"(["http.url"])"));
  for (const auto& [app, type] : {std::pair{EventApp::kDns, "dns"},
                                  {EventApp::kTls, "tls"},
                                  {EventApp::kSsh, "ssh"},
                                  {EventApp::kSmtp, "smtp"},
                                  {static_cast<EventApp>(77), "unknown"}}) {
    record_.app.app = app;
    EXPECT_EQ(Json::parse(line())["event_type"], type);
  }
}

TEST_F(EventJsonTest, ADropHasItsSignature) {
  record_.kind = EventKind::kDrop;
  record_.drop = {.sid = 4, .gid = 1, .bytes = 60};
  const Json json = Json::parse(line());
  EXPECT_EQ(json["event_type"], "drop");
  EXPECT_EQ(json["drop"]["len"], 60);
  EXPECT_EQ(json["alert"]["signature_id"], 4);
}

TEST_F(EventJsonTest, Ipv6AndOtherProtocols) {
  record_.ip_version = 6;
  record_.source = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
  record_.source_port = record_.destination_port = 0;
  record_.protocol = 58;
  const Json json = Json::parse(line());
  EXPECT_EQ(json["src_ip"], "2001:db8::5");
  EXPECT_EQ(json["proto"], "IPv6-ICMP");
  EXPECT_FALSE(json.contains("dest_port"));
  EXPECT_EQ(json["icmp_type"], 0);
  record_.source_port = 77;  // the identifier
  record_.destination_port = 3 << 8 | 128;
  EXPECT_EQ(Json::parse(line())["icmp_type"], 128);
  EXPECT_EQ(Json::parse(line())["icmp_code"], 3);
  EXPECT_FALSE(Json::parse(line()).contains("src_port"));
  record_.source_port = record_.destination_port = 0;
  record_.protocol = 89;
  EXPECT_EQ(Json::parse(line())["proto"], "089");
  record_.protocol = 4;
  EXPECT_EQ(Json::parse(line())["proto"], "IP-in-IP");
}

TEST_F(EventJsonTest, APacketThatIsNotIpHasNoAddresses) {
  record_.ip_version = 0;
  const Json json = Json::parse(line());
  EXPECT_FALSE(json.contains("src_ip"));
  EXPECT_FALSE(json.contains("proto"));
  EXPECT_EQ(json["in_iface"], "b");
}

TEST_F(EventJsonTest, TextIsEscaped) {
  name("a \"b\" \\ c\n\x01\x7f");
  EXPECT_EQ(Json::parse(line())["alert"]["signature"], "a \"b\" \\ c\n\x01\x7f");
  name(
      "gr\xc3\xbc\xc3\x9f"
      "e \xe2\x82\xac \xf0\x9f\x90\x8c");
  EXPECT_EQ(Json::parse(line())["alert"]["signature"],
            "gr\xc3\xbc\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\x90\x8c");
  name(
      "\xbc"
      "half \xe2\x82");
  EXPECT_EQ(Json::parse(line())["alert"]["signature"], "\xef\xbf\xbdhalf \xef\xbf\xbd\xef\xbf\xbd");
}

TEST_F(EventJsonTest, WhateverARecordHoldsItIsOneLineOfJson) {
  std::mt19937 random(20);
  for (int i = 0; i < 20'000; ++i) {
    for (std::size_t at = 0; at < sizeof record_; ++at) {
      reinterpret_cast<std::uint8_t*>(&record_)[at] = static_cast<std::uint8_t>(random());
    }
    record_.kind = static_cast<EventKind>(random() % 7);
    const std::string text = line();
    ASSERT_TRUE(Json::accept(text)) << text;
    ASSERT_EQ(text.find('\n'), text.size() - 1);
    ASSERT_LT(text.size(), 1024u);
  }
}

TEST_F(EventJsonTest, TimesAreLocalWithTheirZone) {
  ::setenv("TZ", "XST-5:30", 1);  // east of Greenwich
  ::tzset();
  std::string text;
  EventTimes().put(kNoonNs, text);
  EXPECT_EQ(text, "2026-11-25T17:30:00.123456+0530");
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  text.clear();
  times_.put(kNoonNs, text);
  times_.put(kNoonNs + 1'000'000'000, text);
  times_.put(kNoonNs + 1'000'001'000, text);
  EXPECT_EQ(text,
            "2026-11-25T12:00:00.123456+00002026-11-25T12:00:01.123456+0000"
            "2026-11-25T12:00:01.123457+0000");
}

}  // namespace
}  // namespace millrace
