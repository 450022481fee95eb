// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "shared/packet/icmp.hpp"
#include "tests/unit/services/functions/nat/nat_stage.hpp"

namespace millrace::nat_test {
namespace {

TEST_F(NatTest, APacketFromInsideHasAnOutsideAddressAndItsAnswerComesBack) {
  use();
  for (const std::uint8_t protocol : {6, 17, 1}) {
    SCOPED_TRACE(int{protocol});
    const Seen out =
        send(kLan, {.destination_port = static_cast<std::uint16_t>(protocol == 1 ? 8 : 53),
                    .protocol = protocol});
    EXPECT_EQ(out.reason, -1);
    EXPECT_EQ(out.source(), kPublic);
    EXPECT_EQ(out.destination(), kServer);
    if (protocol == 6) continue;  // a SYN is no answer
    const Seen back = send(kWan, out.answered());
    EXPECT_EQ(back.reason, -1);
    EXPECT_EQ(back.source(), kServer);
    EXPECT_EQ(back.destination(), kHost);
    EXPECT_EQ(back.tuple->destination_port, 5000);
  }
  EXPECT_EQ(hits(NatCounter::kTranslated), 5u);
  EXPECT_EQ(hits(NatCounter::kMappings), 3u);
}

TEST_F(NatTest, APacketToThePoolThatNobodyAskedForIsDropped) {
  use();
  EXPECT_EQ(send(kWan, {.source = kServer, .destination = kPublic}).reason,
            static_cast<int>(NatReason::kNoMapping));
  EXPECT_EQ(send(kWan, {.source = kServer, .destination = kPublic, .protocol = 1}).reason,
            static_cast<int>(NatReason::kNoMapping));
}

TEST_F(NatTest, WhatStaysInsideOrIsTheRoutersIsNotTranslated) {
  use();
  EXPECT_EQ(send(kLan, {.destination = kOther}).source(), kHost);
  EXPECT_EQ(send(kLan, {.destination = 0xcb0071fe}).source(), kHost);
  EXPECT_EQ(send(kWan, {.source = kServer, .destination = 0xcb0071fe}).destination(), 0xcb0071feu);
  EXPECT_EQ(hits(NatCounter::kTranslated), 0u);
}

TEST_F(NatTest, AStrangerEntersByTheFiltering) {
  for (const char* filtering : {"endpoint", "address", "address-port"}) {
    SCOPED_TRACE(filtering);
    use({{"filtering", filtering}});
    const Seen out = send(kLan, {});
    Sent stranger = out.answered();
    stranger.source_port = 4444;
    const bool other_port = send(kWan, stranger).reason == -1;
    stranger.source = 0x08080808;
    const Seen other = send(kWan, stranger);
    EXPECT_EQ(other_port, std::string(filtering) != "address-port");
    EXPECT_EQ(other.reason == -1, std::string(filtering) == "endpoint");
    if (other.reason != -1) continue;
    EXPECT_EQ(other.destination(), kHost);
    EXPECT_EQ(other.tuple->destination_port, 5000);
    const Seen back = send(kLan, other.answered());
    EXPECT_EQ(back.source(), kPublic);
    EXPECT_EQ(back.tuple->source_port, out.tuple->source_port);
  }
}

TEST_F(NatTest, PublishedServersAndFixedAddressesAreReached) {
  use({{"publish", "udp 203.0.113.1:80 -> 10.0.0.6:8080"}, {"static", "203.0.113.5 <-> 10.0.0.5"}});
  const Seen in = send(kWan, {.source = kServer, .destination = kPublic, .destination_port = 80});
  EXPECT_EQ(in.destination(), kOther);
  EXPECT_EQ(in.tuple->destination_port, 8080);
  const Seen back = send(kLan, in.answered());
  EXPECT_EQ(back.source(), kPublic);
  EXPECT_EQ(back.tuple->source_port, 80);
  EXPECT_EQ(send(kLan, {}).source(), kFixed);
  EXPECT_EQ(send(kWan, {.source = kServer, .destination = kFixed, .protocol = 6}).destination(),
            kHost);
  EXPECT_EQ(hits(NatCounter::kFixed), 3u);
}

/// RFC 4787 REQ-9: each sees the outside address and port of the other one.
TEST_F(NatTest, HostsInsideReachEachOtherByTheirOutsideAddresses) {
  use({{"hairpin", "turn"}});
  const Seen other = send(kLan, {.source = kOther, .source_port = 7000});
  EXPECT_FALSE(other.turned) << "it leaves for the outside";
  const Seen out = send(kLan, {.destination = kPublic, .destination_port = 7000});
  EXPECT_TRUE(out.turned);
  EXPECT_EQ(out.source(), kPublic);
  const Seen in = send_frames(kTurn, {out.frame}).front();
  EXPECT_FALSE(in.turned);
  EXPECT_EQ(in.destination(), kOther);
  EXPECT_EQ(in.source(), kPublic);
  EXPECT_EQ(in.tuple->source_port, 5000);
  const Seen back = send(kLan, in.answered());
  EXPECT_TRUE(back.turned);
  EXPECT_EQ(back.tuple->source_port, 7000);
  const Seen home = send_frames(kTurn, {back.frame}).front();
  EXPECT_EQ(home.source(), kPublic);
  EXPECT_EQ(home.tuple->source_port, 7000);
  EXPECT_EQ(home.destination(), kHost);
  EXPECT_EQ(hits(NatCounter::kHairpins), 2u);
}

TEST_F(NatTest, ServersAndFixedAddressesAreReachedFromInside) {
  use({{"hairpin", "turn"},
       {"publish", "udp 203.0.113.7:80 -> 10.0.0.6:8080"},
       {"static", "203.0.113.5 <-> 10.0.0.5"}});
  const Seen out = send(kLan, {.destination = kPublic + 6, .destination_port = 80});
  EXPECT_TRUE(out.turned);
  EXPECT_EQ(out.source(), kFixed);
  const Seen in = send_frames(kTurn, {out.frame}).front();
  EXPECT_EQ(in.destination(), kOther);
  EXPECT_EQ(in.tuple->destination_port, 8080);
  const Sent echo{.source = kOther, .destination = kFixed, .destination_port = 8, .protocol = 1};
  const Seen asked = send(kLan, echo);
  EXPECT_TRUE(asked.turned);
  EXPECT_EQ(send_frames(kTurn, {asked.frame}).front().destination(), kHost);
  EXPECT_TRUE(
      send(kLan, {.destination = kPublic + 6, .destination_port = 80, .fragment = 4}).turned)
      << "a later fragment";
}

TEST_F(NatTest, APacketGoesRoundOnceAndNotUnasked) {
  use({{"hairpin", "turn"}});
  const Seen out = send(kLan, {.destination = kPublic, .destination_port = 9});
  EXPECT_EQ(send_frames(kTurn, {out.frame}).front().reason,
            static_cast<int>(NatReason::kNoMapping));
  use();
  EXPECT_FALSE(send(kLan, {.destination = kPublic, .destination_port = 9}).turned);
  EXPECT_EQ(hits(NatCounter::kHairpins), 1u);
}

/// 203.0.113.254 is the address of the port.
TEST_F(NatTest, MasqueradedHostsHaveTheAddressOfThePort) {
  constexpr std::uint32_t kOwn = 0xcb0071fe;
  use({{"masquerade", "wan"}, {"publish", "udp 203.0.113.254:80 -> 10.0.0.6:8080"}});
  plan_.settings.erase(plan_.settings.begin() + 1);  // without the pool
  start();
  const Seen out = send(kLan, {});
  EXPECT_EQ(out.source(), kOwn);
  EXPECT_EQ(send(kWan, out.answered()).destination(), kHost);
  EXPECT_EQ(
      send(kWan, {.source = kServer, .destination = kOwn, .destination_port = 80}).destination(),
      kOther);
  for (const std::uint8_t protocol : {1, 6, 17}) {  // for the router itself
    const Seen own = send(
        kWan, {.source = kServer, .destination = kOwn, .source_port = 9, .protocol = protocol});
    EXPECT_EQ(own.reason, -1);
    EXPECT_EQ(own.destination(), kOwn);
  }
  EXPECT_EQ(send(kLan, {.destination = kOwn}).destination(), kOwn);
  for (const std::uint8_t port : {kLan, kWan}) {
    EXPECT_EQ(send(port, {.source = kOwn, .destination = kOther}).reason,
              static_cast<int>(NatReason::kNoMapping))
        << "forged";
  }
}

TEST_F(NatTest, HostsReachEachOtherByTheAddressOfThePortWhereItIsNotTheRouters) {
  constexpr std::uint32_t kOwn = 0xcb0071fe;
  use({{"masquerade", "wan"},
       {"hairpin", "turn"},
       {"publish", "udp 203.0.113.254:80 -> 10.0.0.6:8080"}});
  plan_.settings.erase(plan_.settings.begin() + 1);
  start();
  for (const std::uint16_t port : {80, 1024, 32767}) {
    const Seen out = send(kLan, {.destination = kOwn, .destination_port = port});
    EXPECT_TRUE(out.turned);
    EXPECT_EQ(out.source(), kOwn);
    const Seen in = send_frames(kTurn, {out.frame}).front();
    EXPECT_EQ(in.destination(), port == 80 ? kOther : kOwn);
    EXPECT_EQ(in.reason, port == 80 ? -1 : static_cast<int>(NatReason::kNoMapping));
  }
  for (const std::uint16_t port : {53, 1023, 32768}) {
    const Seen own = send(kLan, {.destination = kOwn, .destination_port = port});
    EXPECT_FALSE(own.turned);
    EXPECT_EQ(own.source(), kHost);
  }
  const Seen echo = send(kLan, {.destination = kOwn, .destination_port = 8, .protocol = 1});
  EXPECT_FALSE(echo.turned);
}

TEST_F(NatTest, AnErrorComesBackAboutWhatTheHostHasSent) {
  use();
  const Seen out = send(kLan, {});
  Frame error(kIcmpErrorFrontBytes);
  const std::span<const std::byte> quote = std::span(out.frame).subspan(14);
  write_icmp_error(error, quote, {}, {}, 0x08080808, kPublic, kIcmpTimeExceeded);
  error.insert(error.end(), quote.begin(), quote.end());
  const Seen in = send_frames(kWan, {error}).front();
  EXPECT_EQ(in.reason, -1);
  EXPECT_EQ(wire_bytes::u32(in.frame, 26), 0x08080808u);
  EXPECT_EQ(wire_bytes::u32(in.frame, 30), kHost);
  const Frame sent = Sent{}.frame();  // with the same wrong checksum of IPv4, as it was before
  EXPECT_TRUE(std::equal(sent.begin() + 14, sent.end(), in.frame.begin() + kIcmpErrorFrontBytes));
  EXPECT_EQ(hits(NatCounter::kErrors), 1u);
}

TEST_F(NatTest, LaterFragmentsHaveTheAddressOfTheirHost) {
  use();
  const auto source = [](const Seen& seen) { return wire_bytes::u32(seen.frame, 26); };
  EXPECT_EQ(send(kLan, {.fragment = 4}).reason, static_cast<int>(NatReason::kNoMapping));
  EXPECT_EQ(source(send(kLan, {.fragment = 0x2000})), kPublic);
  EXPECT_EQ(source(send(kLan, {.fragment = 4})), kPublic);
}

TEST_F(NatTest, MappingsEndWithTheirFlows) {
  use({{"ports", "2048-2111"}, {"host_limit", "40"}});
  std::vector<Frame> frames;
  for (std::uint16_t port = 0; port < 50; ++port) {
    frames.push_back(Sent{.source_port = static_cast<std::uint16_t>(3000 + port)}.frame());
  }
  const auto count = [](const std::vector<Seen>& all, NatReason why) {
    return std::ranges::count(all, static_cast<int>(why), &Seen::reason);
  };
  EXPECT_EQ(count(send_frames(kLan, frames), NatReason::kHostLimit), 10);
  EXPECT_EQ(send(kLan, {.source = kOther}).reason, static_cast<int>(NatReason::kPortsExhausted));
  now_s_ += 100;
  start();  // the worker was replaced
  send_frames(kLan, {});
  EXPECT_EQ(send(kLan, {.source = kOther}).reason, -1);
}

// What RFCs ask of a NAT, as tests/golden/nat-requirements has it.

/// An ICMP error from `reporter` to the source of what it quotes.
Frame error_about(const Frame& quoted, std::uint32_t reporter) {
  Frame error(kIcmpErrorFrontBytes);
  const std::span<const std::byte> quote = std::span(quoted).subspan(14);
  write_icmp_error(error, quote, {}, {}, reporter, wire_bytes::u32(quote, 12),
                   kIcmpHostUnreachable);
  error.insert(error.end(), quote.begin(), quote.end());
  return error;
}

TEST_F(NatTest, TcpMayBeOpenedFromBothSidesAtOnce) {
  use();
  const Seen out = send(kLan, {.destination_port = 80, .protocol = 6});
  const Seen in = send(kWan, out.answered());  // a SYN too
  EXPECT_EQ(in.reason, -1);
  EXPECT_EQ(in.destination(), kHost);
  EXPECT_EQ(in.tuple->destination_port, 5000);
  EXPECT_EQ(hits(NatCounter::kMappings), 1u) << "of one flow";
}

TEST_F(NatTest, ASynThatNobodyAskedForIsAnsweredByNothing) {
  use();
  const Sent syn{
      .source = kServer, .destination = kPublic, .destination_port = 5000, .protocol = 6};
  EXPECT_EQ(send(kWan, syn).reason, static_cast<int>(NatReason::kNoMapping));
  EXPECT_TRUE(arena_.batch().side.records().empty());
  EXPECT_EQ(send(kLan, {.source_port = 5000, .destination_port = 53, .protocol = 6}).reason, -1);
}

TEST_F(NatTest, AnErrorEndsNoMapping) {
  use();
  const Seen out = send(kLan, {});
  EXPECT_EQ(send_frames(kWan, {error_about(out.frame, kServer)}).front().reason, -1);
  EXPECT_EQ(send(kWan, out.answered()).destination(), kHost);
  EXPECT_EQ(send(kLan, {}).tuple->source_port, out.tuple->source_port);
}

TEST_F(NatTest, AnErrorDoesNotProlongAQuestion) {
  use();
  const Seen asked = send(kLan, {.destination_port = 8, .protocol = 1});
  now_s_ += 59;
  EXPECT_EQ(send_frames(kWan, {error_about(asked.frame, kServer)}).front().reason, -1);
  EXPECT_EQ(send(kWan, asked.answered()).reason, -1) << "a minute is not over";
  now_s_ += 59;
  EXPECT_EQ(send_frames(kWan, {error_about(asked.frame, kServer)}).front().reason, -1);
  now_s_ += 2;
  send_frames(kLan, {});
  EXPECT_NE(send(kWan, asked.answered()).reason, -1);
}

TEST_F(NatTest, AnErrorAboutNoMappingIsDropped) {
  use();
  const Frame strange = Sent{.source = kPublic}.frame(), inside = Sent{.source = kServer}.frame();
  EXPECT_NE(send_frames(kWan, {error_about(strange, kServer)}).front().reason, -1);
  EXPECT_NE(send_frames(kLan, {error_about(inside, kHost)}).front().reason, -1);
}

TEST_F(NatTest, AnErrorOfAHostInsideIsAboutWhatTheOutsideHasSent) {
  use();
  const Sent answer = send(kLan, {}).answered();
  const Seen in = send(kWan, answer);
  const Seen told = send_frames(kLan, {error_about(in.frame, kHost)}).front();
  EXPECT_EQ(told.reason, -1);
  EXPECT_EQ(wire_bytes::u32(told.frame, 26), kPublic) << "no address of the inside is seen";
  EXPECT_EQ(wire_bytes::u32(told.frame, 30), kServer);
  const Frame sent = answer.frame();
  EXPECT_TRUE(std::equal(sent.begin() + 14, sent.end(), told.frame.begin() + kIcmpErrorFrontBytes));
}

TEST_F(NatTest, AMappingOfUdpStaysForTwoMinutes) {
  use();
  const Seen out = send(kLan, {.destination_port = 5060});
  now_s_ += 119;
  EXPECT_EQ(send(kWan, out.answered()).reason, -1);
  const Seen other = send(kLan, {.source_port = 5001, .destination_port = 5060});
  now_s_ += 100;
  send(kLan, {.source_port = 5001, .destination_port = 5060});  // what goes out prolongs it
  now_s_ += 100;
  EXPECT_EQ(send(kWan, other.answered()).reason, -1);
  now_s_ += 122;
  send_frames(kLan, {});
  EXPECT_NE(send(kWan, other.answered()).reason, -1);
}

TEST_F(NatTest, AConnectionThatOpensStaysForFourMinutes) {
  use();
  const Sent syn{.destination_port = 80, .protocol = 6};
  const Seen out = send(kLan, syn);
  now_s_ += 239;
  EXPECT_EQ(send(kWan, out.answered()).reason, -1);
  now_s_ += 239;
  send_frames(kLan, {});
  EXPECT_EQ(hits(PoolCounter::kMappingsEnded), 0u);
  now_s_ += 3;
  send_frames(kLan, {});
  EXPECT_EQ(hits(PoolCounter::kMappingsEnded), 1u);
}

TEST_F(NatTest, AnotherPoolFindsItsOldStateOfNoUse) {
  use();
  EXPECT_EQ(send(kLan, {}).reason, -1);
  plan_.settings[1].second = "203.0.113.9";
  start();
  EXPECT_EQ(send(kLan, {}).source(), kPublic);  // the flow that there is goes on
  EXPECT_EQ(send(kLan, {.source = kOther}).reason, static_cast<int>(NatReason::kNoMapping));
}

TEST_F(NatTest, NothingLeavesUntranslatedWithoutFlows) {
  use();
  StageRunner alone(std::vector<StageFunction>{translates()});
  arena_.clear();
  arena_.add(Sent{}.frame());
  arena_.add(Sent{.destination = kOther}.frame());
  alone.run(arena_.batch(), std::array{states_[1]}, {.port_in = kLan});
  EXPECT_TRUE(arena_.batch().is_dropped(0));
  EXPECT_FALSE(arena_.batch().is_dropped(1));
}

}  // namespace
}  // namespace millrace::nat_test
