// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/as_sent.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "services/functions/acl/acl_reject.hpp"
#include "tests/unit/services/functions/nat/nat_stage.hpp"
#include "tests/unit/services/functions/nat64/nat64_stage.hpp"

namespace millrace {
namespace {

Frame copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Behind a translation: what a packet is for a while, what its sender is told, and whether the
/// packet is the same behind that.
struct Looks final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      const Frame before = copy_of(call.batch.bytes(packet));
      may_be = may_be_translated(call, packet);
      const std::uint16_t offset = call.batch.offset[packet];
      {
        const AsSent as_sent(call, packet);
        is_known = as_sent.is_known();
        sent = copy_of(call.batch.bytes(packet));
      }
      EXPECT_EQ(copy_of(call.batch.bytes(packet)), before);
      EXPECT_EQ(call.batch.offset[packet], offset);
      rejecter.tell_sender(call, packet);
      EXPECT_EQ(copy_of(call.batch.bytes(packet)), before);
      translated = before;
    }
    told.clear();
    for (const SideRecord& record : call.batch.side.records()) {
      told.push_back(copy_of(call.batch.side.bytes_of(record)));
    }
  }
  AclRejecter rejecter{0};
  bool is_known = false, may_be = false;
  Frame sent, translated;
  std::vector<Frame> told;  ///< frames of the side list
};

/// Of IPv4, where a test asks for no more than addresses and ports.
struct Ends {
  std::uint32_t source, destination;
  unsigned source_port, destination_port;
  friend bool operator==(const Ends&, const Ends&) = default;
};
Ends ends_at(const Frame& frame, std::size_t ip) {
  return {wire_bytes::u32(frame, ip + 12), wire_bytes::u32(frame, ip + 16),
          wire_bytes::u16(frame, ip + 20), wire_bytes::u16(frame, ip + 22)};
}

class AsSentBehindNat : public nat_test::NatTest {
 protected:
  AsSentBehindNat() { behind_ = &looks_; }
  /// With checksums, as an answer to a segment asks for one.
  static Frame summed(Frame frame) {
    const std::size_t bytes = frame.size() - 34;
    std::uint32_t sum = 6 + static_cast<std::uint32_t>(bytes);
    for (std::size_t at = 26; at < 34; at += 2) sum += wire_bytes::u16(frame, at);
    for (std::size_t at = 34; at + 1 < frame.size(); at += 2) sum += wire_bytes::u16(frame, at);
    sum -= wire_bytes::u16(frame, 50);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    wire_bytes::put16(frame, 50, static_cast<std::uint16_t>(~sum));
    return frame;
  }
  Looks looks_;
};

TEST_F(AsSentBehindNat, AHostInsideIsToldOfItsOwnPacket) {
  use();
  const Frame sent = nat_test::Sent{}.frame();
  send_frames(kLan, {sent});
  EXPECT_TRUE(looks_.is_known);
  EXPECT_TRUE(looks_.may_be);
  EXPECT_EQ(looks_.sent, sent);
  EXPECT_NE(looks_.translated, sent);
  ASSERT_EQ(looks_.told.size(), 1u);
  const Frame& error = looks_.told[0];
  EXPECT_EQ(wire_bytes::u32(error, 26), nat_test::kServer) << "in the name of its destination";
  EXPECT_EQ(wire_bytes::u32(error, 30), nat_test::kHost);
  EXPECT_EQ(Frame(error.begin() + 42, error.end()), Frame(sent.begin() + 14, sent.end()));
}

TEST_F(AsSentBehindNat, AHostInsideIsReset) {
  use();
  send_frames(kLan, {summed(nat_test::Sent{.destination_port = 80, .protocol = 6}.frame())});
  ASSERT_EQ(looks_.told.size(), 1u);
  EXPECT_EQ(ends_at(looks_.told[0], 14), (Ends{nat_test::kServer, nat_test::kHost, 80, 5000}));
}

TEST_F(AsSentBehindNat, AHostOutsideIsResetByTheAddressThatItKnows) {
  use({{"publish", "tcp 203.0.113.1:8081 -> 10.0.0.5:8080"}});
  send_frames(kWan, {summed(nat_test::Sent{.source = nat_test::kServer,
                                           .destination = nat_test::kPublic,
                                           .source_port = 7000,
                                           .destination_port = 8081,
                                           .protocol = 6}
                                .frame())});
  EXPECT_EQ(ends_at(looks_.translated, 14), (Ends{nat_test::kServer, nat_test::kHost, 7000, 8080}));
  ASSERT_EQ(looks_.told.size(), 1u);
  EXPECT_EQ(ends_at(looks_.told[0], 14), (Ends{nat_test::kPublic, nat_test::kServer, 8081, 7000}));
}

TEST_F(AsSentBehindNat, WhatIsNotTranslatedIsRejectedAsItIs) {
  use();
  const Frame sent = nat_test::Sent{.destination = nat_test::kOther}.frame();
  send_frames(kLan, {sent});
  EXPECT_EQ(looks_.sent, sent);
  EXPECT_EQ(looks_.may_be, looks_.translated != sent);
  ASSERT_EQ(looks_.told.size(), 1u);
  EXPECT_EQ(wire_bytes::u32(looks_.told[0], 30), nat_test::kHost);
}

/// The same of each packet of a batch.
struct LooksAtAll final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    all.assign(call.batch.count, {});
    for (const std::uint16_t packet : call.selected.packets) {
      const AsSent as_sent(call, packet);
      all[packet] = {as_sent.is_known(), copy_of(call.batch.bytes(packet))};
    }
  }
  struct One {
    bool is_known = false;
    Frame sent;
  };
  std::vector<One> all;
};

class AsSentInAFullTable : public nat_test::NatTest {
 protected:
  AsSentInAFullTable() {
    behind_ = &looks_;
    flow_max_ = "16";
  }
  LooksAtAll looks_;
};

/// All flows of the table have a packet in the batch, so one of these is given up behind `nat`'s
/// back for the flow that begins with the last packet.
TEST_F(AsSentInAFullTable, WhatIsNotKnownAnyMoreIsNotGuessed) {
  use({{"max", "400"}});
  std::uint32_t unknown = 0;
  for (std::uint16_t round = 0; round < 8; ++round) {
    std::vector<Frame> frames;
    for (std::uint16_t i = 0; i < 40; ++i) {
      const auto port = static_cast<std::uint16_t>(5000 + i + round);
      frames.push_back(nat_test::Sent{.source_port = port}.frame());
    }
    const std::vector<nat_test::Seen> seen = send_frames(kLan, frames);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (seen[i].reason >= 0) continue;
      const LooksAtAll::One& looked = looks_.all[i];
      EXPECT_TRUE(!looked.is_known || looked.sent == frames[i]) << round << " " << i;
      if (!looked.is_known) ++unknown;
    }
  }
  EXPECT_GT(unknown, 0u);
}

class AsSentBehindNat64 : public nat64_test::Nat64Test {
 protected:
  AsSentBehindNat64() { behind_ = &looks_; }
  Looks looks_;
};

TEST_F(AsSentBehindNat64, EachSideIsToldInItsOwnVersion) {
  use();
  for (const auto& [port, name] :
       {std::pair{kLan, "UDP to the server"}, {kWan, "UDP to the host"}}) {
    const Frame sent = named(name).before;
    send(port, sent);
    EXPECT_TRUE(looks_.is_known);
    EXPECT_EQ(nat64_test::without_identification(looks_.sent),
              nat64_test::without_identification(sent));
    EXPECT_NE(looks_.translated, sent);
    ASSERT_EQ(looks_.told.size(), 1u) << name;
    EXPECT_EQ(looks_.told[0][12], sent[12]) << "the type of Ethernet";
  }
}

}  // namespace
}  // namespace millrace
