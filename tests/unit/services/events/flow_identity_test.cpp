// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/flow_identity.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace millrace {
namespace {

struct Conversation {
  const char *source, *destination;
  std::uint8_t protocol;
  std::uint16_t source_port, destination_port;
};

EventRecord record_of(const Conversation& of) {
  EventRecord record{};
  const bool old = std::string(of.source).find(':') == std::string::npos;
  record.ip_version = old ? 4 : 6;
  EXPECT_EQ(::inet_pton(old ? AF_INET : AF_INET6, of.source, record.source.data()), 1);
  EXPECT_EQ(::inet_pton(old ? AF_INET : AF_INET6, of.destination, record.destination.data()), 1);
  record.protocol = of.protocol;
  record.source_port = of.source_port;
  record.destination_port = of.destination_port;
  return record;
}

std::string community(const char* source, const char* destination, std::uint8_t protocol,
                      std::uint16_t source_port, std::uint16_t destination_port) {
  return community_id_of(record_of({source, destination, protocol, source_port, destination_port}));
}

/// Of ICMP: type and code, with an identifier that makes no difference.
std::string community_icmp(const char* source, const char* destination, std::uint8_t protocol,
                           unsigned type, unsigned code) {
  return community(source, destination, protocol, 77, static_cast<std::uint16_t>(code << 8 | type));
}

/// The results are those that the authors of Community ID publish with their implementation
/// (github.com/corelight/pycommunityid, tests).
TEST(FlowIdentity, CommunityIdsAreThosePublished) {
  EXPECT_EQ(community("128.232.110.120", "66.35.250.204", 6, 34855, 80),
            "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
  EXPECT_EQ(community("66.35.250.204", "128.232.110.120", 6, 80, 34855),
            "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
  EXPECT_EQ(community("10.0.0.1", "10.0.0.2", 6, 10, 11569), "1:SXBGMX1lBOwhhoDrZynfROxnhnM=");
  EXPECT_EQ(community("192.168.1.52", "8.8.8.8", 17, 54585, 53), "1:d/FP5EW3wiY1vCndhwleRRKHowQ=");
  EXPECT_EQ(community("192.168.170.8", "192.168.170.56", 132, 7, 80),
            "1:jQgCxbku+pNGw8WPbEc/TS/uTpQ=");
  EXPECT_EQ(community("192.168.170.56", "192.168.170.8", 132, 80, 7),
            "1:jQgCxbku+pNGw8WPbEc/TS/uTpQ=");
  EXPECT_EQ(community("10.1.24.4", "10.1.12.1", 46, 0, 0), "1:/nQI4Rh/TtY3mf0R2gJFBkVlgS4=");
  EXPECT_EQ(community("10.1.12.1", "10.1.24.4", 46, 0, 0), "1:/nQI4Rh/TtY3mf0R2gJFBkVlgS4=");
}

TEST(FlowIdentity, CommunityIdsOfIcmpAreThosePublished) {
  EXPECT_EQ(community_icmp("192.168.0.89", "192.168.0.1", 1, 8, 0),
            "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=");
  EXPECT_EQ(community_icmp("192.168.0.1", "192.168.0.89", 1, 0, 8),
            "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=");
  EXPECT_EQ(community_icmp("192.168.0.89", "192.168.0.1", 1, 20, 0),
            "1:3o2RFccXzUgjl7zDpqmY7yJi8rI=");
  EXPECT_EQ(community_icmp("192.168.0.89", "192.168.0.1", 1, 20, 1),
            "1:tz/fHIDUHs19NkixVVoOZywde+I=");
  constexpr const char *kOne = "fe80::200:86ff:fe05:80da", *kOther = "fe80::260:97ff:fe07:69ea";
  EXPECT_EQ(community_icmp(kOne, kOther, 58, 135, 0), "1:dGHyGvjMfljg6Bppwm3bg0LO8TY=");
  EXPECT_EQ(community_icmp(kOther, kOne, 58, 136, 0), "1:dGHyGvjMfljg6Bppwm3bg0LO8TY=");
  EXPECT_EQ(community_icmp("3ffe:507:0:1:260:97ff:fe07:69ea", "3ffe:507:0:1:200:86ff:fe05:80da", 58,
                           3, 0),
            "1:NdobDX8PQNJbAyfkWxhtL2Pqp5w=");
  EXPECT_EQ(community_icmp("3ffe:507:0:1:200:86ff:fe05:80da", "3ffe:507:0:1:260:97ff:fe07:69ea", 58,
                           3, 0),
            "1:/OGBt9BN1ofenrmSPWYicpij2Vc=");
}

TEST(FlowIdentity, WhatIsNotKnownHasNone) {
  EventRecord record = record_of({"10.0.0.1", "10.0.0.2", 6, 0, 0});  // a fragment
  EXPECT_EQ(community_id_of(record), "");
  EXPECT_FALSE(flow_id_of(record));
  record.source_port = 1;
  EXPECT_TRUE(flow_id_of(record));
  record.ip_version = 0;
  EXPECT_EQ(community_id_of(record), "");
  EXPECT_FALSE(flow_id_of(record));
  EXPECT_FALSE(flow_id_of(record_of({"10.0.0.1", "10.0.0.2", 1, 0, 3}))) << "an error of ICMP";
}

TEST(FlowIdentity, AFlowHasOneIdBothWays) {
  std::mt19937 random(11);
  std::set<std::uint64_t> seen;
  constexpr std::uint8_t kProtocols[] = {6, 17, 132, 33, 136, 47};
  for (int i = 0; i < 20'000; ++i) {
    EventRecord record{};
    record.ip_version = random() % 2 == 0 ? 4 : 6;
    const std::size_t bytes = record.ip_version == 4 ? 4 : 16;
    for (std::size_t at = 0; at < bytes; ++at) {
      record.source[at] = static_cast<std::uint8_t>(random());
      record.destination[at] =
          random() % 4 == 0 ? static_cast<std::uint8_t>(random()) : record.source[at];
    }
    record.protocol = kProtocols[random() % std::size(kProtocols)];
    record.source_port = static_cast<std::uint16_t>(random() | 1);
    record.destination_port = static_cast<std::uint16_t>(random());
    const auto id = flow_id_of(record);
    ASSERT_TRUE(id);
    EXPECT_LT(*id, std::uint64_t{1} << 51);
    EXPECT_TRUE(seen.insert(*id).second) << "as good as never two alike";
    std::swap(record.source, record.destination);
    std::swap(record.source_port, record.destination_port);
    EXPECT_EQ(flow_id_of(record), id);
    EXPECT_EQ(community_id_of(record).size(), 30u);
  }
}

/// Records of flows have the tuple of their first packet: identifier, and type of the question.
TEST(FlowIdentity, AnAnswerOfIcmpIsOfItsQuestionsFlow) {
  const auto question = flow_id_of(record_of({"10.0.0.1", "10.0.0.2", 1, 77, 8}));
  ASSERT_TRUE(question);
  EXPECT_EQ(flow_id_of(record_of({"10.0.0.2", "10.0.0.1", 1, 77, 0})), question);
  EXPECT_NE(flow_id_of(record_of({"10.0.0.1", "10.0.0.2", 1, 78, 8})), question);
  EXPECT_NE(flow_id_of(record_of({"10.0.0.1", "10.0.0.2", 1, 77, 13})), question);
  EXPECT_EQ(flow_id_of(record_of({"2001:db8::1", "2001:db8::2", 58, 5, 128})),
            flow_id_of(record_of({"2001:db8::2", "2001:db8::1", 58, 5, 129})));
}

}  // namespace
}  // namespace millrace
