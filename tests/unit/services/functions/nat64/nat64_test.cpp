// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/nat64.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shared/packet/internet_checksum.hpp"
#include "tests/unit/services/functions/nat64/nat64_stage.hpp"

namespace millrace::nat64_test {
namespace {

constexpr int kNone = -1;

int place(Nat64Reason reason) { return static_cast<int>(reason); }

TEST_F(Nat64Test, AConnectionOfEachProtocolGoesOutAndItsAnswerComesBack) {
  for (const auto& [out, in] : {std::pair{"UDP to the server", "UDP to the host"},
                                {"an echo request to the server", "its reply"}}) {
    SCOPED_TRACE(out);
    use();
    const Case there = named(out), back = named(in);
    const Seen sent = send(kLan, there.before);
    EXPECT_EQ(sent.reason, kNone);
    EXPECT_EQ(without_identification(sent.frame), without_identification(there.after));
    const Seen answered = send(kWan, back.before);
    EXPECT_EQ(answered.reason, kNone);
    EXPECT_EQ(answered.frame, back.after);
  }
  EXPECT_EQ(hits(Nat64Counter::kToIpv4), 2u);
  EXPECT_EQ(hits(Nat64Counter::kToIpv6), 2u);
  EXPECT_EQ(hits(Nat64Counter::kMappings), 2u);
}

TEST_F(Nat64Test, TcpBeginsWithItsSyn) {
  use({});
  const Case one = named("TCP to the server");
  Frame syn = one.before, wanted = one.after;
  for (Frame* frame : {&syn, &wanted}) {
    const std::size_t tcp = parse_headers(*frame).transport_offset;
    wire_bytes::put8(*frame, tcp + 13, 2);
    const std::uint16_t sum = wire_bytes::u16(*frame, tcp + 16);
    wire_bytes::put16(*frame, tcp + 16, updated_checksum(sum, 0x18, 2));
  }
  const Seen sent = send(kLan, syn);
  EXPECT_EQ(sent.reason, kNone);
  EXPECT_EQ(without_identification(sent.frame), without_identification(wanted));
}

TEST_F(Nat64Test, FragmentsFollowTheFirstOne) {
  use();
  EXPECT_EQ(send(kLan, named("the last one").before).reason, place(Nat64Reason::kNoMapping));
  for (const char* name : {"a first fragment to the server", "the last one"}) {
    const Case one = named(name);
    EXPECT_EQ(send(kLan, one.before).frame, one.after) << name;
  }
  for (const char* name : {"a first fragment to the host", "one in the middle"}) {
    const Case one = named(name);
    EXPECT_EQ(send(kWan, one.before).frame, one.after) << name;
  }
}

TEST_F(Nat64Test, ErrorsComeThroughBothWays) {
  use();
  EXPECT_EQ(send(kLan, named("UDP to the server").before).reason, kNone);
  const Case to_host = named("port unreachable"), to_server = named("packet too big");
  EXPECT_EQ(send(kWan, to_host.before).frame, to_host.after);
  EXPECT_EQ(without_identification(send(kLan, to_server.before).frame),
            without_identification(to_server.after));
  EXPECT_EQ(hits(Nat64Counter::kErrors), 2u);
  EXPECT_EQ(send(kWan, named("source quench").before).reason, place(Nat64Reason::kUntranslatable));
}

TEST_F(Nat64Test, NobodyEntersWithoutAMapping) {
  use();
  for (const char* name : {"UDP to the host", "TCP to the host", "its reply", "port unreachable"}) {
    EXPECT_EQ(send(kWan, named(name).before).reason, place(Nat64Reason::kNoMapping)) << name;
  }
}

TEST_F(Nat64Test, AStrangerEntersByTheFiltering) {
  for (const char* filtering : {"endpoint", "address-port"}) {
    use({{"filtering", filtering}});
    EXPECT_EQ(send(kLan, named("UDP to the server").before).reason, kNone);
    Frame stranger = named("UDP to the host").before;
    wire_bytes::put16(stranger, 34, 4444);
    const Seen seen = send(kWan, stranger);
    if (std::string_view(filtering) == "endpoint") {
      EXPECT_EQ(tuple_of(seen.frame).destination, kHost);
      EXPECT_EQ(tuple_of(seen.frame).destination_port, kHostPort);
    } else {
      EXPECT_EQ(seen.reason, place(Nat64Reason::kNoMapping));
    }
  }
}

TEST_F(Nat64Test, AddressesThatThePrefixDoesNotStandForAreRefused) {
  const auto to = [&](std::uint32_t address) {
    Frame frame = named("UDP to the server").before;
    wire_bytes::put32(frame, 14 + 24 + 12, address);
    return send(kLan, frame).reason;
  };
  for (const bool is_private : {false, true}) {
    use({{"private", is_private ? "true" : "false"}});
    EXPECT_EQ(to(0x0a000001), is_private ? kNone : place(Nat64Reason::kAddress));
    EXPECT_EQ(to(0x7f000001), place(Nat64Reason::kAddress));
    EXPECT_EQ(to(0xc0000201), place(Nat64Reason::kAddress)) << "an own one";
    EXPECT_EQ(to(kPublic), place(Nat64Reason::kAddress)) << "one of the pool";
  }
}

TEST_F(Nat64Test, ASourceOfThePrefixIsRefused) {  // RFC 6146 3.5
  use();
  Frame frame = named("UDP to the server").before;
  const Frame address(frame.begin() + 14 + 24, frame.begin() + 14 + 40);
  std::ranges::copy(address, frame.begin() + 14 + 8);
  wire_bytes::put8(frame, 14 + 8 + 15, 77);
  EXPECT_EQ(send(kLan, frame).reason, place(Nat64Reason::kAddress));
  EXPECT_EQ(hits(Nat64Counter::kMappings), 0u);
}

TEST_F(Nat64Test, AnOutsideSourceOfThePoolIsRefused) {
  use();
  EXPECT_EQ(send(kLan, named("UDP to the server").before).reason, kNone);
  Frame frame = named("UDP to the host").before;
  wire_bytes::put32(frame, 14 + 12, kPublic);
  EXPECT_EQ(send(kWan, frame).reason, place(Nat64Reason::kAddress));
}

TEST_F(Nat64Test, OtherPacketsPassAsTheyAre) {
  use();
  Frame elsewhere = named("UDP to the server").before;
  wire_bytes::put8(elsewhere, 14 + 24, 0x20);
  EXPECT_EQ(send(kLan, elsewhere).frame, elsewhere);
  EXPECT_EQ(send(kLan, named("UDP to the host").before).frame, named("UDP to the host").before);
  Frame other = named("UDP to the host").before;
  wire_bytes::put8(other, 14 + 19, 9);
  EXPECT_EQ(send(kWan, other).frame, other);
}

TEST_F(Nat64Test, WhatTheOtherVersionDoesNotHaveIsDropped) {
  use();
  EXPECT_EQ(send(kLan, named("segments are left").before).reason,
            place(Nat64Reason::kUntranslatable));
  EXPECT_EQ(send(kLan, named("UDP over IPv6 without a checksum").before).reason, kOther);
}

TEST_F(Nat64Test, MappingsEndWithTheirFlows) {
  use();
  const auto sent_from = [&](std::uint16_t port) {
    Frame frame = named("UDP to the server").before;
    wire_bytes::put16(frame, 54, port);
    return send(kLan, frame).reason;
  };
  EXPECT_EQ(sent_from(1), kNone);
  EXPECT_EQ(sent_from(3), place(Nat64Reason::kPortsExhausted));
  now_s_ += 100;
  start();  // the worker was replaced
  send(kWan, named("UDP to the host").before);
  EXPECT_EQ(sent_from(3), kNone);
}

TEST_F(Nat64Test, AHostHasNoMoreMappingsThanItsLimit) {
  use({{"host_limit", "1"}});
  Frame frame = named("UDP to the server").before;
  EXPECT_EQ(send(kLan, frame).reason, kNone);
  wire_bytes::put16(frame, 54, 7);
  EXPECT_EQ(send(kLan, frame).reason, place(Nat64Reason::kHostLimit));
}

}  // namespace
}  // namespace millrace::nat64_test
