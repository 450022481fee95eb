// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stream_index.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace millrace {
namespace {

EventRecord record_of_ipv6() {
  EventRecord record{};
  record.ip_version = 6;
  record.protocol = 6;
  record.source[15] = 1;
  record.destination[15] = 2;
  record.source_port = 5;
  record.destination_port = 80;
  return record;
}

TEST(StreamIndex, FilesHaveTheNameOfTheirSender) {
  EventRecord record = record_of_ipv6();
  EXPECT_EQ(stream_file_name(record), "::1.5-::2.80");
  record.tcp_stream.direction = 1;
  EXPECT_EQ(stream_file_name(record), "::2.80-::1.5");
}

TEST(StreamIndex, ALineHasBothDirections) {
  StreamParts parts;
  parts.add(0, 3);
  const std::vector<StreamFileLine> files = {
      {.name = "a", .direction = 0, .bytes = 3, .is_picked_up = true, .parts = parts},
      {.name = "b", .direction = 1, .bytes = 5, .parts = parts}};
  const auto line = nlohmann::json::parse(stream_index_line(record_of_ipv6(), files, false));
  EXPECT_FALSE(line["ended"]);
  EXPECT_EQ(line["src_ip"], "::1");
  EXPECT_EQ(line["streams"][0]["direction"], "to_server");
  EXPECT_TRUE(line["streams"][0]["midstream"]);
  EXPECT_EQ(line["streams"][1]["missing"].dump(), "[[3,5]]");
}

}  // namespace
}  // namespace millrace
