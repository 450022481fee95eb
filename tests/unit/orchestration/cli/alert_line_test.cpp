// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/alert_line.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

const std::string kBeacon =
    R"({"timestamp":"T1","event_type":"alert","flow_id":5,"in_iface":"lan",)"
    R"("src_ip":"10.1.0.5","src_port":40000,"dest_ip":"192.0.2.9","dest_port":80,"proto":"TCP",)"
    R"("app_proto":"http","direction":"to_server","alert":{"action":"blocked","gid":1,)"
    R"("signature_id":2019401,"rev":7,"signature":"a beacon","category":"A Trojan","severity":1},)"
    R"("millrace":{"function":"ids"}})";
const std::string kRule =
    R"({"timestamp":"T2","event_type":"alert","src_ip":"2001:db8::1","dest_ip":"2001:db8::2",)"
    R"("proto":"IPv6-ICMP","alert":{"action":"allowed","gid":1,"signature_id":3,"rev":0,)"
    R"("signature":"a rule","category":"","severity":3},"millrace":{"function":"scan"}})";

Json alert_of(const std::string& line) { return alert_of_line(line).value(); }

bool takes(const AlertFilter& filter, const std::string& line) {
  return filter.takes(alert_of(line));
}

TEST(AlertLine, IsALineForPeople) {
  EXPECT_EQ(alert_text(alert_of(kBeacon)),
            "T1 blocked [1:2019401:7] \"a beacon\" severity 1 (A Trojan)  "
            "TCP 10.1.0.5:40000 > 192.0.2.9:80 http  by ids");
  EXPECT_EQ(alert_text(alert_of(kRule)),
            "T2 allowed [1:3:0] \"a rule\" severity 3  "
            "IPv6-ICMP 2001:db8::1 > 2001:db8::2  by scan");
}

TEST(AlertLine, OtherLinesAreNone) {
  for (const char* const line :
       {"", "no JSON \"alert\"", "[\"alert\"]", R"({"event_type":"alert"})",
        R"({"event_type":"alert","alert":3})", R"({"event_type":"flow","alert":{}})",
        R"({"event_type":7,"alert":{}})", R"({"event_type":"flow","flow":{"alerted":true}})",
        R"({"event_type":"alert","alert":{)"}) {
    EXPECT_FALSE(alert_of_line(line)) << line;
  }
}

TEST(AlertLine, WhatALineDoesNotSayIsLeftOut) {
  EXPECT_EQ(alert_text(alert_of(R"({"event_type":"alert","alert":{"gid":"x","rev":-1}})")),
            "  [0:0:0] \"\" severity 0");
}

TEST(AlertLine, AFilterTakesSignaturesAndSources) {
  EXPECT_TRUE(takes({{}, ""}, kBeacon) && takes({{}, ""}, kRule));
  EXPECT_TRUE(takes({{3, 2019401}, ""}, kBeacon));
  EXPECT_FALSE(takes({{3}, ""}, kBeacon));
  EXPECT_TRUE(takes({{}, "10.1.0.0/16"}, kBeacon));
  EXPECT_FALSE(takes({{}, "10.1.0.6"}, kBeacon));
  EXPECT_FALSE(takes({{}, "0.0.0.0/0"}, kRule));
  EXPECT_TRUE(takes({{}, "2001:db8::/32"}, kRule));
  EXPECT_FALSE(takes({{3}, "2001:db8:1::/48"}, kRule));
  EXPECT_FALSE(takes({{}, "::/0"}, R"({"event_type":"alert","alert":{}})")) << "it says no source";
  EXPECT_THROW(AlertFilter({}, "example.org"), Error);
  EXPECT_THROW(AlertFilter({}, "10.0.0.0/33"), Error);
}

TEST(AlertLine, AreCountedBySignatureOrEnd) {
  AlertCount by_signature(AlertOrder::kSignature), by_source(AlertOrder::kSource);
  for (const std::string& line : {kRule, kBeacon, kBeacon}) {
    by_signature.add(alert_of(line));
    by_source.add(alert_of(line));
  }
  EXPECT_EQ(by_signature.alerts(), 3u);
  EXPECT_EQ(by_signature.blocked(), 2u);
  EXPECT_EQ(alert_groups_text(by_signature.top(9), AlertOrder::kSignature),
            "alerts  blocked  last  signature\n"
            "2       2        T1    1:2019401 \"a beacon\" severity 1\n"
            "1       0        T2    1:3 \"a rule\" severity 3\n");
  EXPECT_EQ(alert_groups_text(by_source.top(1), AlertOrder::kSource),
            "alerts  blocked  last  source\n"
            "2       2        T1    10.1.0.5\n");
  EXPECT_EQ(alert_groups_text({}, AlertOrder::kSource), "");
  EXPECT_EQ(alert_group_json(by_signature.top(1)[0], AlertOrder::kSignature),
            Json::parse(R"({"signature": "1:2019401", "message": "a beacon", "severity": 1,
                            "alerts": 2, "blocked": 2, "last": "T1"})"));
  AlertCount by_destination(AlertOrder::kDestination);
  by_destination.add(alert_of(kRule));
  EXPECT_EQ(alert_group_json(by_destination.top(1)[0], AlertOrder::kDestination),
            Json::parse(R"({"destination": "2001:db8::2", "alerts": 1, "blocked": 0,
                            "last": "T2"})"));
}

}  // namespace
}  // namespace millrace
