// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "services/functions/ids/flow_watch.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/services/functions/ids/ids_stage.hpp"
#include "tests/unit/services/functions/ids/protocols/dns_wire.hpp"

namespace millrace {
namespace {

/// Datagrams between a client and a server; many flows of the client.
class FlowWatchDatagramsTest : public IdsStage {
 protected:
  static constexpr char kDropsName[] =
      "drop dns any any -> any any (dns.query; content:\"forbidden\"; sid:1;)\n";
  static constexpr char kNoDns[] = "junk comes first";
  static constexpr std::uint16_t kFlows = 900;  ///< fewer than FlowWatch::kDatagramFlowsMax

  int datagram(bool back, std::uint16_t client, std::uint16_t server, const std::string& text) {
    const auto bytes = static_cast<unsigned>(text.size());
    Frame frame = FrameBuilder()
                      .ipv4(17, 8 + bytes)
                      .udp(bytes, back ? server : client, back ? client : server)
                      .text(text)
                      .build();
    if (back) {
      const std::uint32_t source = wire_bytes::u32(frame, 26);
      wire_bytes::put32(frame, 26, wire_bytes::u32(frame, 30));
      wire_bytes::put32(frame, 30, source);
    }
    return send(frame);
  }
  static std::string message(bool is_answer) {
    return dns_message(1, is_answer, {dns_name({"allowed", "org"})});
  }
  /// Questions of other flows, until the first have made room.
  void ask_of_others() {
    for (std::uint16_t i = 0; i < kFlows; ++i) {
      EXPECT_EQ(datagram(false, static_cast<std::uint16_t>(20'000 + i), 53, message(false)),
                kPasses);
    }
    EXPECT_GT(hits(IdsCounter::kMadeRoom), 0u);
  }
};

TEST_F(FlowWatchDatagramsTest, AnswersAreDroppedUntilAQuestionComes) {
  use(kDropsName, {{"parser_mb", "1"}}, "2000");
  EXPECT_EQ(datagram(false, 10'000, 53, message(false)), kPasses);
  ask_of_others();
  EXPECT_EQ(datagram(true, 10'000, 53, message(true)), kCostly);
  EXPECT_EQ(datagram(true, 10'000, 53, kNoDns), kPasses);
  EXPECT_EQ(datagram(true, 10'000, 53, message(true)), kCostly);
  EXPECT_EQ(datagram(false, 10'000, 53, kNoDns), kPasses);
  EXPECT_EQ(datagram(true, 10'000, 53, message(true)), kCostly);
  EXPECT_EQ(datagram(false, 10'000, 53, message(false)), kPasses);
  EXPECT_EQ(datagram(true, 10'000, 53, message(true)), kPasses);
}

TEST_F(FlowWatchDatagramsTest, AnswersToQuestionsWhosePlacesOthersHaveAreDropped) {
  use(kDropsName, {}, "20000");
  EXPECT_EQ(datagram(false, 10'000, 53, message(false)), kPasses);
  EXPECT_EQ(datagram(true, 9'999, 53, message(true)), kPasses) << "all places are not in use yet";
  for (std::uint32_t i = 0; i < FlowWatch::kDatagramFlowsMax; ++i) {
    datagram(false, static_cast<std::uint16_t>(20'000 + i), 53, message(false));
  }
  EXPECT_EQ(datagram(true, 10'000, 53, message(true)), kCostly);
  EXPECT_EQ(datagram(true, 20'000 + FlowWatch::kDatagramFlowsMax - 1, 53, message(true)), kPasses);
  EXPECT_EQ(datagram(false, 10'000, 53, message(false)), kPasses);
  EXPECT_EQ(datagram(true, 10'000, 53, message(true)), kPasses);
}

TEST_F(FlowWatchDatagramsTest, OtherProtocolsHaveNothingToLose) {
  use(kDropsName, {{"parser_mb", "1"}}, "2000");
  EXPECT_EQ(datagram(false, 10'000, 7000, "question"), kPasses);
  ask_of_others();
  EXPECT_EQ(datagram(true, 10'000, 7000, message(true)), kPasses);
  EXPECT_EQ(hits(IdsCounter::kGivenUp), 0u);
}

}  // namespace
}  // namespace millrace
