// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/alert_json.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace millrace {
namespace {

using Json = nlohmann::json;

class AlertJsonTest : public ::testing::Test {
 protected:
  AlertJsonTest() {
    event_.rule = 4;
    event_.sid = 2019401;
    event_.gid = 3;
    event_.revision = 7;
    event_.action = EventAction::kBlocked;
    event_.priority = 1;
    event_.transaction = EventCount((std::uint64_t{1} << 40) + 2);
    name_.message = "a \"beacon\"";
    name_.classification = "A Network Trojan was detected";
  }
  Json line(const SignatureName* name) const {
    std::string out = "{";
    put_signature(event_, name, out);
    return Json::parse(out + "}");
  }

  SignatureEvent event_{};
  SignatureName name_;
};

TEST_F(AlertJsonTest, ASignatureIsAsEveHasIt) {
  std::string out = "{";
  put_signature(event_, &name_, out);
  EXPECT_EQ(out,
            "{\"alert\":{\"action\":\"blocked\",\"gid\":3,\"signature_id\":2019401,\"rev\":7,"
            "\"signature\":\"a \\\"beacon\\\"\",\"category\":\"A Network Trojan was detected\","
            "\"severity\":1}");
}

TEST_F(AlertJsonTest, WhatIsNotKnownIsNotSaid) {
  const Json without = line(&name_);
  EXPECT_FALSE(without.contains("app_proto") || without.contains("direction") ||
               without.contains("tx_id"));
  std::memcpy(event_.app, "http", 4);
  event_.direction = FlowDirection::kToServer;
  event_.scope = SignatureScope::kTransaction;
  const Json with = line(&name_);
  EXPECT_EQ(with["app_proto"], "http");
  EXPECT_EQ(with["direction"], "to_server");
  EXPECT_EQ(with["tx_id"], (std::uint64_t{1} << 40) + 2);
  event_.direction = FlowDirection::kToClient;
  event_.scope = SignatureScope::kStream;
  EXPECT_EQ(line(&name_)["direction"], "to_client");
  EXPECT_FALSE(line(&name_).contains("tx_id"));
}

TEST_F(AlertJsonTest, ASignatureWithoutNameHasItsNumbers) {
  const Json alert = line(nullptr)["alert"];
  EXPECT_EQ(alert["signature_id"], 2019401);
  EXPECT_EQ(alert["rev"], 7);
  EXPECT_EQ(alert["signature"], "");
  EXPECT_EQ(alert["category"], "");
}

TEST_F(AlertJsonTest, MetadataIsAListForEachKey) {
  name_.metadata = {{"tag", "c2"}, {"created_at", "2014_10_14"}, {"tag", "\"b\""}};
  EXPECT_EQ(line(&name_)["alert"]["metadata"],
            Json::parse(R"({"tag": ["c2", "\"b\""], "created_at": ["2014_10_14"]})"));
  name_.metadata.emplace_back("long", std::string(4096, 'x'));
  EXPECT_FALSE(line(&name_)["alert"].contains("metadata")) << "a line has its limits";
}

TEST_F(AlertJsonTest, ADropSaysWhyAndByWhichRule) {
  DropEvent drop{};
  drop.bytes = 1500;
  drop.reason = EventDropReason::kRule;
  drop.direction = FlowDirection::kToServer;
  drop.gid = 1;
  drop.sid = 5;
  drop.priority = 2;
  std::string out = "{";
  put_drop(drop, &name_, out);
  const Json by_rule = Json::parse(out + "}");
  EXPECT_EQ(by_rule["drop"], Json::parse(R"({"len": 1500, "reason": "rules"})"));
  EXPECT_EQ(by_rule["direction"], "to_server");
  EXPECT_EQ(by_rule["alert"]["action"], "blocked");
  EXPECT_EQ(by_rule["alert"]["signature_id"], 5);
  EXPECT_EQ(by_rule["alert"]["signature"], name_.message);
  drop.reason = EventDropReason::kStream;
  out = "{";
  put_drop(drop, nullptr, out);
  const Json other = Json::parse(out + "}");
  EXPECT_EQ(other["drop"]["reason"], "stream error");
  EXPECT_FALSE(other.contains("alert"));
  drop.reason = static_cast<EventDropReason>(200);
  out = "{";
  put_drop(drop, nullptr, out);
  EXPECT_EQ(Json::parse(out + "}")["drop"]["reason"], "unknown");
}

}  // namespace
}  // namespace millrace
