// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/follow_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace millrace {
namespace {

FollowedPiece piece_of(std::string_view text, std::uint8_t direction = 0) {
  return {.direction = direction, .position = 7, .bytes = std::as_bytes(std::span(text))};
}

TEST(FollowText, AFlowIsNamedAsFlowsPrintsIt) {
  EXPECT_EQ(follow_filter("TCP 10.0.0.1:5000 > 192.0.2.9:80"),
            "src=10.0.0.1 sport=5000 dst=192.0.2.9 dport=80");
  EXPECT_EQ(follow_filter("[::1]:5000 > [::2]:80"), "src=::1 sport=5000 dst=::2 dport=80");
  EXPECT_EQ(follow_filter("src=10.0.0.0/8 dport=80"), "src=10.0.0.0/8 dport=80");
}

TEST(FollowText, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(followed_text(piece_of("a\r\n\tb\\\xff")), "> a\\r\n> \\tb\\\\\\xff\n");
  EXPECT_EQ(followed_text(piece_of("x\n\n", 1)), "< x\n< \n");
}

TEST(FollowText, WhatIsMissingIsSaid) {
  FollowedPiece piece = piece_of("x");
  piece.missing = 3;
  EXPECT_EQ(followed_text(piece), "> [3 bytes missing]\n> x\n");
}

TEST(FollowText, IsJsonToo) {
  const auto json = nlohmann::json::parse(followed_json(piece_of("hi", 1)));
  EXPECT_EQ(json["direction"], "to_client");
  EXPECT_EQ(json["position"], 7);
  EXPECT_EQ(json["data"], "aGk=");
  EXPECT_EQ(json["text"], "hi");
}

TEST(FollowText, TheFilterTakesBothWaysAndTags) {
  FlowTuple tuple;
  tuple.version = 4;
  tuple.source = {10, 0, 0, 1};
  tuple.destination = {10, 0, 0, 2};
  tuple.source_port = 5;
  tuple.destination_port = 80;
  const std::string filter = follow_pcap_filter(tuple);
  EXPECT_NE(filter.find("src host 10.0.0.1 and src port 5 and dst host 10.0.0.2 and dst port 80"),
            std::string::npos);
  EXPECT_NE(filter.find("dst host 10.0.0.1"), std::string::npos);
  EXPECT_NE(filter.find("vlan"), std::string::npos);
}

}  // namespace
}  // namespace millrace
