// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/flow_json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "services/events/flow_identity.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLoggedNs = 1'795'608'000'123'456'789;  // 2026-11-25T12:00:00.123456789Z

class FlowJsonTest : public ::testing::Test {
 protected:
  FlowJsonTest() {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
    record_.kind = EventKind::kFlow;
    record_.lane = 4;  // the first one of the second path
    record_.stream = 1;
    record_.function = 3;
    record_.ip_version = 4;
    record_.protocol = 6;
    record_.source = {10, 1, 0, 5};
    record_.destination = {192, 0, 2, 9};
    record_.source_port = 40000;
    record_.destination_port = 443;
    record_.flow = {.packets = {EventCount(7), EventCount(5)},
                    .bytes = {EventCount(700), EventCount((1ull << 40) + 3)},
                    .lasted_ms = EventCount(61'500),
                    .idle_ms = EventCount(10'250),
                    .phase = FlowPhase::kClosed,
                    .reason = FlowEndReason::kClosed,
                    .tcp = FlowTcpState::kTimeWait,
                    .tcp_flags = {0x1b, 0x13},
                    .is_translated = 0,
                    .is_alerted = 0,
                    .padding = {}};
  }
  void translate(TranslationAction action, TranslationScope scope) {
    record_.kind = EventKind::kTranslation;
    record_.translation = {.source = {203, 0, 113, 1},
                           .destination = {192, 0, 2, 9},
                           .source_port = 1024,
                           .destination_port = 443,
                           .ip_version = 4,
                           .action = action,
                           .scope = scope,
                           .padding = {}};
  }
  std::string line() {
    std::string out;
    put_event(record_, {.actor = "front.1", .number = 99, .time_ns = kLoggedNs}, world_.plan,
              times_, out);
    return out;
  }
  Json json() { return Json::parse(line()); }

  test::SmallWorld world_;
  EventTimes times_;
  EventRecord record_{};
};

TEST_F(FlowJsonTest, AFlowIsALineAsEveHasIt) {
  EXPECT_EQ(line(),
            "{\"timestamp\":\"2026-11-25T12:00:00.123456+0000\",\"event_type\":\"flow\","
            "\"flow_id\":" +
                std::to_string(flow_id_of(record_).value()) +
                ",\"community_id\":\"1:NeEDsuksyXgwQlkoizLlrxkGDOc=\","
                "\"src_ip\":\"10.1.0.5\",\"src_port\":40000,\"dest_ip\":\"192.0.2.9\","
                "\"dest_port\":443,\"proto\":\"TCP\",\"flow\":{\"pkts_toserver\":7,"
                "\"pkts_toclient\":5,\"bytes_toserver\":700,\"bytes_toclient\":1099511627779,"
                "\"start\":\"2026-11-25T11:58:48.373456+0000\","
                "\"end\":\"2026-11-25T11:59:49.873456+0000\",\"age\":61,\"state\":\"closed\","
                "\"reason\":\"closed\",\"alerted\":false},\"tcp\":{\"tcp_flags\":\"1b\","
                "\"tcp_flags_ts\":\"1b\",\"tcp_flags_tc\":\"13\",\"fin\":true,\"syn\":true,"
                "\"psh\":true,\"ack\":true,\"state\":\"time_wait\"},"
                "\"millrace\":{\"function\":\"fourth\",\"path\":\"short\",\"lane\":0,"
                "\"actor\":\"front.1\",\"record\":99}}\n");
}

TEST_F(FlowJsonTest, AFlowOfIcmpHasTypeAndIdentifier) {
  record_.protocol = 1;
  record_.source_port = 77;
  record_.destination_port = 8;
  record_.flow.phase = FlowPhase::kNew;
  record_.flow.reason = FlowEndReason::kTimeout;
  record_.flow.is_translated = 1;
  record_.flow.is_alerted = 1;
  const Json found = json();
  EXPECT_EQ(found["icmp_type"], 8);
  EXPECT_EQ(found["icmp_code"], 0);
  EXPECT_EQ(found["millrace"]["icmp_id"], 77);
  EXPECT_FALSE(found.contains("src_port") || found.contains("tcp"));
  EXPECT_EQ(found["flow"]["state"], "new");
  EXPECT_EQ(found["flow"]["reason"], "timeout");
  EXPECT_EQ(found["millrace"]["translated"], true);
  EXPECT_EQ(found["flow"]["alerted"], true);
}

TEST_F(FlowJsonTest, EachStateHasItsName) {
  const char* const reasons[] = {"timeout", "closed", "forced", "shutdown", "forced", "unknown"};
  for (std::uint8_t i = 0; i < 6; ++i) {
    record_.flow.reason = static_cast<FlowEndReason>(i);
    EXPECT_EQ(json()["flow"]["reason"], reasons[i]);
  }
  const char* const phases[] = {"new", "established", "closed", "unknown"};
  for (std::uint8_t i = 0; i < 4; ++i) {
    record_.flow.phase = static_cast<FlowPhase>(i);
    EXPECT_EQ(json()["flow"]["state"], phases[i]);
  }
  record_.flow.tcp_flags[0] = record_.flow.tcp_flags[1] = 0;
  const char* const states[] = {"none",      "syn_sent",   "syn_recv", "established",
                                "fin_wait1", "close_wait", "last_ack", "time_wait",
                                "closed",    "syn_sent",   "unknown"};
  for (std::uint8_t i = 0; i < 11; ++i) {
    record_.flow.tcp = static_cast<FlowTcpState>(i);
    EXPECT_EQ(json()["tcp"], (Json{{"state", states[i]}}));
  }
}

TEST_F(FlowJsonTest, AFlowOlderThanTheClockBeganIn1970) {
  record_.flow.lasted_ms = record_.flow.idle_ms = EventCount(UINT64_MAX);
  EXPECT_EQ(json()["flow"]["start"], "1970-01-01T00:00:00.000456+0000");
}

TEST_F(FlowJsonTest, ATranslationHasBothSides) {
  translate(TranslationAction::kCreated, TranslationScope::kSession);
  const Json found = json();
  EXPECT_EQ(found["event_type"], "nat");
  EXPECT_EQ(found["src_ip"], "10.1.0.5");
  EXPECT_EQ(found["src_port"], 40000);
  EXPECT_EQ(found["flow_id"], flow_id_of(record_).value()) << "that of the flow's own line";
  EXPECT_EQ(found["nat"], Json::parse(R"({"action": "created", "scope": "session", "nat_event": 4,
      "src_ip": "203.0.113.1", "src_port": 1024, "dest_ip": "192.0.2.9", "dest_port": 443})"));
}

TEST_F(FlowJsonTest, AMappingHasNoDestination) {
  translate(TranslationAction::kRemoved, TranslationScope::kMapping);
  const Json found = json();
  EXPECT_FALSE(found.contains("dest_ip") || found.contains("dest_port"));
  EXPECT_FALSE(found.contains("flow_id") || found.contains("community_id"));
  EXPECT_EQ(found["nat"], Json::parse(R"({"action": "removed", "scope": "mapping", "nat_event": 9,
      "src_ip": "203.0.113.1", "src_port": 1024})"));
  record_.protocol = 1;
  EXPECT_EQ(json()["nat"]["icmp_id"], 1024);
  EXPECT_FALSE(json()["nat"].contains("src_port"));
}

TEST_F(FlowJsonTest, ABlockHasPortsOutsideAlone) {
  translate(TranslationAction::kCreated, TranslationScope::kBlock);
  const Json found = json();
  EXPECT_EQ(found["src_ip"], "10.1.0.5");
  EXPECT_FALSE(found.contains("src_port") || found.contains("dest_ip") || found.contains("proto"));
  EXPECT_EQ(found["nat"], Json::parse(R"({"action": "created", "scope": "block", "nat_event": 16,
      "src_ip": "203.0.113.1", "first_port": 1024, "last_port": 443})"));
}

TEST_F(FlowJsonTest, EventsOfNatAreNumberedAsRfc8158HasThem) {
  const auto event = [&](std::uint8_t inside, std::uint8_t outside, TranslationAction action,
                         TranslationScope scope) {
    translate(action, scope);
    record_.ip_version = inside;
    record_.translation.ip_version = outside;
    return nat_event_of(record_);
  };
  using enum TranslationAction;
  using enum TranslationScope;
  EXPECT_EQ(event(4, 4, kCreated, kSession), 4);
  EXPECT_EQ(event(4, 4, kRemoved, kSession), 5);
  EXPECT_EQ(event(6, 4, kCreated, kSession), 6);
  EXPECT_EQ(event(6, 4, kRemoved, kSession), 7);
  EXPECT_EQ(event(4, 4, kCreated, kMapping), 8);
  EXPECT_EQ(event(4, 4, kRemoved, kMapping), 9);
  EXPECT_EQ(event(6, 4, kCreated, kMapping), 10);
  EXPECT_EQ(event(6, 4, kRemoved, kMapping), 11);
  EXPECT_EQ(event(4, 4, kCreated, kBlock), 16);
  EXPECT_EQ(event(6, 4, kRemoved, kBlock), 17);
  EXPECT_EQ(event(6, 6, kCreated, kSession), 0) << "it has none for IPv6 to IPv6";
  EXPECT_EQ(event(0, 4, kCreated, kSession), 0);
}

}  // namespace
}  // namespace millrace
