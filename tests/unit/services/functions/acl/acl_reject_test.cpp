// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// When a sender is told; what it is told stands in tests/golden/acl_reject.golden.

#include "services/functions/acl/acl_reject.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "services/functions/acl/acl_rule.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// ESP from 10.0.0.1 to 10.0.0.2 with `bytes` behind the IP header.
Frame esp(unsigned bytes) { return FrameBuilder().ipv4(50, bytes).padding(bytes).build(); }

struct Rejects {
  Rejects(std::size_t count, unsigned bytes, std::uint32_t rate)
      : Rejects(std::vector<Frame>(count, esp(bytes)), rate) {}
  Rejects(const std::vector<Frame>& frames, std::uint32_t rate)
      : batch(batch_of(arena, frames)), rejecter(rate) {}

  /// All packets are rejected at `now_ns`. Returns how many answers stand in the side list.
  std::size_t all(std::uint64_t now_ns, std::uint8_t port_in = 3, std::uint8_t how = 0) {
    const BatchFacts facts{.port_in = port_in, .now_ns = now_ns};
    const FinishContext call{batch, {}, {}, {}, {}, facts};
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      rejecter.tell_sender(call, static_cast<std::uint16_t>(i), how);
    }
    return batch.side.records().size();
  }

  BatchArena arena{kBatchCapacityMax};
  Batch batch;
  AclRejecter rejecter;
};

TEST(AclReject, AnAnswerLeavesWhereItsPacketCameInAtItsTurn) {
  Rejects rejects(2, 20, 0);
  ASSERT_EQ(rejects.all(0), 2u);
  for (std::uint16_t i = 0; i < 2; ++i) {
    const SideRecord& record = rejects.batch.side.records()[i];
    EXPECT_EQ(record.packet, i);
    EXPECT_EQ(record.kind, static_cast<std::uint8_t>(SideKind::kSend));
    EXPECT_EQ(record.port, 3);
    EXPECT_EQ(record.why, static_cast<std::uint8_t>(Reason::kReport));
  }
}

/// Protocol, ICMP type and code of the only answer; empty: none.
std::vector<unsigned> answer_to(const Frame& frame, std::uint8_t how) {
  Rejects rejects({frame}, 0);
  if (rejects.all(0, 3, how) == 0) return {};
  const std::span<const std::byte> bytes =
      rejects.batch.side.bytes_of(rejects.batch.side.records()[0]);
  const PacketHeaders headers = parse_headers(bytes);
  std::vector<unsigned> out{headers.protocol};
  if (headers.protocol == 6) return out;
  for (const std::size_t i : {0u, 1u})
    out.push_back(std::to_integer<unsigned>(bytes[headers.transport_offset + i]));
  return out;
}

TEST(AclReject, TheRuleMaySayWhatTheSenderIsTold) {
  using testing::ElementsAre;
  const Frame tcp = FrameBuilder().ipv4(6, 20).tcp(5).build();
  const Frame tcp6 = FrameBuilder().ipv6(6, 20).tcp(5).build();
  const std::uint8_t prohibited = acl_reject_icmp(13, 1);
  EXPECT_THAT(answer_to(tcp, prohibited), ElementsAre(1, 3, 13));
  EXPECT_THAT(answer_to(tcp6, prohibited), ElementsAre(58, 1, 1));
  EXPECT_THAT(answer_to(esp(20), prohibited), ElementsAre(1, 3, 13));
  EXPECT_THAT(answer_to(esp(20), kAclRejectReset), testing::IsEmpty());
}

TEST(AclReject, AnswersHaveARate) {
  Rejects rejects(60, 1, 10);
  EXPECT_EQ(rejects.all(kSecond), 50u) << "the burst";
  rejects.batch.header->side_count = rejects.batch.header->side_bytes = 0;
  EXPECT_EQ(rejects.all(kSecond), 0u);
  EXPECT_EQ(rejects.all(3 * kSecond), 20u) << "ten for each second";
}

TEST(AclReject, WithoutRoomInTheSideListNothingIsSent) {
  Rejects rejects(20, 400, 0);  // each answer quotes all: 42 + 420 bytes
  EXPECT_EQ(rejects.all(0), kSideBytesMax / (42 + 420));
}

TEST(AclReject, APacketOfWhichThePortIsNotKnownIsNotAnswered) {
  Rejects rejects(1, 20, 0);
  EXPECT_EQ(rejects.all(0, kOutputDefault), 0u);
}

TEST(AclReject, BehindARouterThatHasChosenTheOutputNothingIsAnswered) {
  Rejects rejects(1, 20, 0);
  rejects.batch.output[0] = 1;
  EXPECT_EQ(rejects.all(0), 0u);
}

}  // namespace
}  // namespace millrace
