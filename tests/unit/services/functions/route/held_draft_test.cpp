// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/held_draft.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "services/functions/flow/flow_batch.hpp"
#include "tests/unit/services/functions/nat/nat_stage.hpp"
#include "tests/unit/services/functions/nat64/nat64_stage.hpp"
#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace {
namespace {

constexpr MacAddress kSenderMac = {2, 0, 0, 0, 0, 2};
constexpr std::uint32_t kGatewayIpv4 = 0xc0000201;
constexpr Ipv6Bytes kGatewayIpv6 = {0x20, 1, 0x0d, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};

/// Both versions have addresses at both ports, whose MAC addresses are what frames are sent to.
std::vector<PlanPort> ports_of_waiting() {
  std::vector<PlanPort> ports = dual_ports();
  ports[1].mac = ports[0].mac = "02:00:00:00:00:01";
  return ports;
}

/// Behind a translation: a packet waits for a neighbour that is not known.
struct Waits final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    BatchFacts facts = call.facts;
    facts.neighbours = &parts.table;
    const FinishContext with_neighbours = {.batch = call.batch,
                                           .selected = call.selected,
                                           .results = call.results,
                                           .counters = call.counters,
                                           .state = call.state,
                                           .facts = facts,
                                           .events = call.events,
                                           .reason_numbers = call.reason_numbers,
                                           .flows = call.flows,
                                           .behind = call.behind};
    for (const std::uint16_t packet : call.selected.packets) {
      const auto before = call.batch.bytes(packet);
      const Frame translated(before.begin(), before.end());
      const std::uint8_t out = call.facts.port_in == 0 ? 1 : 0;
      const bool is_ipv6 = wire_bytes::u16(translated, 12) == 0x86dd;
      const Departure at{
          .packet = packet,
          .port = out,
          .neighbour = is_ipv6 ? neighbour_of(out, kGatewayIpv6) : neighbour_of(out, kGatewayIpv4)};
      MacAddress mac{};
      EXPECT_EQ(parts.hops.find(with_neighbours, at, mac), NextHops::Found::kWaits);
      hold_packet(with_neighbours, at, parts.hops, ipv4, ipv6);
      const auto bytes = call.batch.bytes(packet);
      waiting.assign(bytes.begin(), bytes.end());
      EXPECT_EQ(datagram(waiting), datagram(translated)) << "it waits as it was";
    }
    record = call.batch.side.records().back();
    const auto bytes = call.batch.side.bytes_of(record);
    EXPECT_LE(bytes.size(), kHoldBytesMax);
    EXPECT_LE(bytes.size() - record.ask, kBufferHeadroom);
    told.assign(bytes.begin() + record.ask, bytes.end());
    if (!told.empty()) {  // as the egress puts it together
      told.insert(told.end(), waiting.begin() + 14, waiting.begin() + 14 + record.quoted);
    }
  }
  void let_none_write() { ipv4 = nullptr, ipv6 = nullptr; }

  RouterParts parts{ports_of_waiting()};
  Ipv4Router* ipv4 = &parts.ipv4;
  Ipv6Router* ipv6 = &parts.ipv6;
  SideRecord record{};
  Frame waiting, told;
};

/// Of `error` the quote ends where the record has no room; a length that says so is no fault.
void expect_quotes(const Frame& error, const Frame& sent, std::size_t front, std::size_t needed) {
  ASSERT_GE(error.size(), front + needed);
  const std::size_t quoted = error.size() - front;
  ASSERT_LE(quoted, sent.size() - 14);
  EXPECT_EQ(Frame(error.begin() + static_cast<std::ptrdiff_t>(front), error.end()),
            Frame(sent.begin() + 14, sent.begin() + 14 + static_cast<std::ptrdiff_t>(quoted)));
}

/// All of the error but its source and its MAC addresses, which the ports say.
void expect_is(Frame error, const RouteFrame& expected) {
  for (std::size_t i = 0; i < 12; ++i) error[i] = expected[i];
  EXPECT_EQ(error, expected);
}

class HeldBehindNat64 : public nat64_test::Nat64Test {
 protected:
  HeldBehindNat64() { behind_ = &waits_; }
  Waits waits_;
};

TEST_F(HeldBehindNat64, AHostOfIpv6IsToldOfWhatItHasSentThoughTheNextHopIsOfIpv4) {
  use();
  const Frame sent = named("TCP to the server").before;
  send(kLan, sent);
  ASSERT_GE(waits_.told.size(), 62u + 48) << "with ports and number of the segment";
  expect_quotes(waits_.told, sent, 62, 48);
  const RouteFrame quote(waits_.told.begin() + 62, waits_.told.end());
  expect_is(waits_.told, slow_icmpv6_error({.type = 1, .code = 0}, quote));
  EXPECT_EQ(waits_.record.quoted, 0);
  EXPECT_EQ(waits_.record.back, kLan);
}

TEST_F(HeldBehindNat64, AHostOfIpv4IsToldOfWhatItHasSentThoughTheNextHopIsOfIpv6) {
  use();
  send(kLan, named("UDP to the server").before);
  const Frame sent = named("UDP to the host").before;
  send(kWan, sent);
  ASSERT_GE(waits_.told.size(), 42u + 28);
  const RouteFrame quote(waits_.told.begin() + 42, waits_.told.end());
  EXPECT_EQ(nat64_test::without_identification(sent).size(), sent.size());
  expect_is(waits_.told, slow_icmp_error({.type = 3, .code = 1, .from = kWanIpv4}, quote));
  EXPECT_EQ(wire_bytes::u32(quote, 12), nat64_test::kServer);
  EXPECT_EQ(wire_bytes::u32(quote, 16), nat64_test::kPublic);
  EXPECT_EQ(wire_bytes::u16(quote, 22), nat64_test::kPublicPort);
  EXPECT_EQ(waits_.record.back, kWan);
}

TEST_F(HeldBehindNat64, NoErrorIsAboutAnError) {
  use();
  send(kLan, named("UDP to the server").before);
  send(kWan, named("port unreachable").before);
  EXPECT_TRUE(waits_.told.empty());
}

TEST_F(HeldBehindNat64, WithoutARouterOfItsVersionItWaitsWithoutAReport) {
  use();
  waits_.let_none_write();
  send(kLan, named("UDP to the server").before);
  EXPECT_TRUE(waits_.told.empty());
  EXPECT_EQ(waits_.record.kind, static_cast<std::uint8_t>(SideKind::kHold));
}

class HeldBehindNat : public nat_test::NatTest {
 protected:
  HeldBehindNat() { behind_ = &waits_; }
  Waits waits_;
};

TEST_F(HeldBehindNat, AHostInsideIsToldOfItsOwnPacket) {
  use();
  Frame sent = addressed(nat_test::Sent{}.frame(), 1);
  put_mac(sent, 6, kSenderMac);
  send_frames(kLan, {sent});
  ASSERT_EQ(waits_.told.size(), 42u + sent.size() - 14);
  expect_quotes(waits_.told, sent, 42, 28);
  const RouteFrame quote(waits_.told.begin() + 42, waits_.told.end());
  expect_is(waits_.told, slow_icmp_error({.type = 3, .code = 1}, quote));
}

/// Behind `flow`, as a proxy of SYNs: numbers that are sent are 1,000 more.
struct Renumbers final : Function {
  explicit Renumbers(Waits& waits) : waits_(waits) {}
  static void add(std::span<std::byte> frame, std::uint32_t more) {
    wire_bytes::put32(frame, 14 + 40 + 4, wire_bytes::u32(frame, 14 + 40 + 4) + more);
  }
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      add(call.batch.bytes(packet), 1000);
      call.flows->note_renumbered(packet);
    }
    waits_.finish(call);
  }
  void revert_numbers(const StateOfFunction&, const FlowTuple&, std::uint8_t,
                      std::span<std::byte> frame) noexcept override {
    add(frame, -1000u);
  }

 private:
  Waits& waits_;
};

class HeldBehindProxy : public nat64_test::Nat64Test {
 protected:
  HeldBehindProxy() { behind_ = &renumbers_; }
  Waits waits_;
  Renumbers renumbers_{waits_};
};

TEST_F(HeldBehindProxy, AHostOfIpv6IsToldOfTheNumberThatItHasSent) {
  use();
  Frame sent = named("TCP to the server").before;
  wire_bytes::put8(sent, 14 + 24, 0x20);    // no address of the prefix: it stays IPv6
  wire_bytes::put8(sent, 14 + 40 + 13, 2);  // SYN
  send(kLan, sent);
  expect_quotes(waits_.told, sent, 62, 60);
  const RouteFrame quote(waits_.told.begin() + 62, waits_.told.end());
  expect_is(waits_.told, slow_icmpv6_error({.type = 1, .code = 3}, quote));
  EXPECT_EQ(wire_bytes::u32(waits_.waiting, 14 + 40 + 4),
            wire_bytes::u32(sent, 14 + 40 + 4) + 1000);
}

}  // namespace
}  // namespace millrace
