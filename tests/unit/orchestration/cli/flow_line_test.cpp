// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/flow_line.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/orchestration/cli/flow_lines.hpp"

namespace millrace {
namespace {

using test::icmp_line;
using test::ipv6_line;
using test::tcp_line;
using test::translated_line;

TEST(FlowLine, AreRowsForPeople) {
  const std::vector<FlowLine> lines = {translated_line(), icmp_line(), ipv6_line()};
  EXPECT_EQ(flows_text(lines),
            "proto  first packet                            state        packets  b"
            "ytes     age    idle  expires  lane    answers, where translated\n"
            "TCP    10.1.0.5:40000 > 192.0.2.9:443          established  7/5      7"
            "00/5000  61.5s  1.5s  300.0s   main.3  192.0.2.9:443 > 203.0.113.1:1024\n"
            "ICMP   10.1.0.6 > 192.0.2.9 id 77              new          1/0      8"
            "4/0      61.5s  1.5s  300.0s   main.3\n"
            "UDP    [2001:db8::5]:5000 > [2001:db8:1::]:53  established  7/5      7"
            "00/5000  61.5s  1.5s  300.0s   main.3\n");
  EXPECT_EQ(flows_text({}), "");
}

TEST(FlowLine, ThatBeginOrEndAreALineEach) {
  EXPECT_EQ(flow_change_text("new", translated_line()),
            "new   TCP 10.1.0.5:40000 > 192.0.2.9:443  established  packets 7/5, bytes 700/5000  "
            "answers 192.0.2.9:443 > 203.0.113.1:1024\n");
  EXPECT_EQ(flow_change_text("ended", icmp_line()),
            "ended ICMP 10.1.0.6 > 192.0.2.9 id 77  new  packets 1/0, bytes 84/0\n");
}

TEST(FlowLine, AreData) {
  EXPECT_EQ(flow_json(translated_line()), nlohmann::ordered_json::parse(R"({
      "function": "flow", "path": "main", "lane": 3, "number": 17, "proto": "TCP",
      "first": {"src": "10.1.0.5", "sport": 40000, "dst": "192.0.2.9", "dport": 443},
      "answer": {"src": "192.0.2.9", "sport": 443, "dst": "203.0.113.1", "dport": 1024},
      "translated": true, "state": "established", "assured": true, "packets": [7, 5],
      "bytes": [700, 5000], "age_s": 61.5, "idle_s": 1.5, "expires_s": 300.0})"));
  const nlohmann::ordered_json icmp = flow_json(icmp_line());
  EXPECT_EQ(icmp["first"], nlohmann::ordered_json::parse(
                               R"({"src": "10.1.0.6", "dst": "192.0.2.9", "icmp_id": 77,
                                   "icmp_type": 8})"));
  EXPECT_EQ(icmp["answer"]["icmp_id"], 77);
  EXPECT_EQ(icmp["answer"]["icmp_type"], 8);
  EXPECT_EQ(icmp["translated"], false);
}

TEST(FlowLine, TimesOfAnEntryThatIsBeingWrittenAreNotBelowZero) {
  FlowLine line = tcp_line();
  line.now_ms = 5;
  line.lasted_ms = UINT64_MAX;
  line.deadline_ms = 1;
  EXPECT_EQ(line.age_ms(), 0u);
  EXPECT_EQ(line.idle_ms(), 0u);
  EXPECT_EQ(line.expires_ms(), 0u);
}

TEST(FlowLine, TalkersAreSourcesWithTheMostInFront) {
  std::vector<FlowLine> lines = {icmp_line(), tcp_line(), translated_line(), ipv6_line()};
  lines[0].bytes_s = 1000;
  lines[3].packets = {100, 0};
  const auto order = [&](FlowOrder by, std::size_t count = 10) {
    std::vector<std::string> addresses;
    for (const FlowTalker& talker : top_talkers(lines, by, count)) {
      addresses.push_back(talker.address);
    }
    return addresses;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(order(FlowOrder::kBytes), (Names{"10.1.0.5", "2001:db8::5", "10.1.0.6"}));
  EXPECT_EQ(order(FlowOrder::kPackets), (Names{"2001:db8::5", "10.1.0.5", "10.1.0.6"}));
  EXPECT_EQ(order(FlowOrder::kRate).front(), "10.1.0.6");
  EXPECT_EQ(order(FlowOrder::kFlows, 1), (Names{"10.1.0.5"}));
  const auto talkers = top_talkers(lines, FlowOrder::kBytes, 1);
  EXPECT_EQ(talkers_text(talkers),
            "source    connections  packets  bytes  packets/s  bytes/s\n"
            "10.1.0.5  2            24       11400  0          0\n");
  EXPECT_EQ(talker_json(talkers[0]), nlohmann::ordered_json::parse(
                                         R"({"source": "10.1.0.5", "connections": 2, "packets": 24,
                                             "bytes": 11400, "packets_s": 0.0, "bytes_s": 0.0})"));
  EXPECT_EQ(talkers_text({}), "");
}

}  // namespace
}  // namespace millrace
