// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/unread_inputs.hpp"

#include <gtest/gtest.h>

#include <map>

namespace millrace {
namespace {

TEST(UnreadInputs, AreTheCapturesOfPortsWithErrors) {
  Plan plan;
  plan.ports = {{.name = "file", .device = "pcap", .settings = {{"in", "/a.pcap"}, {"out", "/b"}}},
                {.name = "again", .device = "replay", .settings = {{"file", "/c.pcap"}}},
                {.name = "wan", .device = "afpacket", .settings = {{"interface", "eth0"}}},
                {.name = "whole", .device = "pcap", .settings = {{"in", "/d.pcap"}}}};
  for (const std::uint32_t port : {0u, 1u, 1u, 2u, 3u}) {
    PlanStream stream;
    stream.port = port;
    stream.ingress = static_cast<std::uint32_t>(plan.streams.size() + 2);
    plan.streams.push_back(stream);
  }
  // One of the two queues of 'again', and an interface that was down.
  std::map<std::uint32_t, std::uint64_t> errors = {{2, 1}, {4, 7}, {5, 3}};
  const auto unread = unread_inputs(plan, [&](std::uint32_t actor) { return errors[actor]; });
  ASSERT_EQ(unread.size(), 2u);
  EXPECT_EQ(unread[0].port, "file");
  EXPECT_EQ(unread[0].path, "/a.pcap");
  EXPECT_EQ(unread[1].port, "again");
  EXPECT_EQ(unread[1].path, "/c.pcap");
  errors[3] = 1;
  EXPECT_EQ(unread_inputs(plan, [&](std::uint32_t actor) { return errors[actor]; }).size(), 2u);
}

}  // namespace
}  // namespace millrace
