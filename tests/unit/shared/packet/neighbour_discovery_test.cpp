// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/neighbour_discovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"
#include "tests/unit/shared/packet/neighbour_frames.hpp"

namespace millrace {
namespace {

constexpr MacAddress kNearMac = {2, 0, 0, 0, 0, 1}, kFarMac = {2, 0, 0, 0, 0, 2};
constexpr Ipv6Bytes kNearIpv6 = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Ipv6Bytes kFarIpv6 = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
constexpr Ipv6Bytes kNearLinkLocal = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

TEST(ParseNeighbour, ReadsASolicitation) {
  NeighbourMessage message;
  ASSERT_TRUE(parse_neighbour(bytes_of_hex(neighbour_frames::kSolicitation), message));
  EXPECT_FALSE(message.advertisement);
  EXPECT_FALSE(message.router || message.solicited || message.override_);
  EXPECT_EQ(message.source, kNearIpv6);
  EXPECT_EQ(message.destination, solicited_node(kFarIpv6));
  EXPECT_EQ(message.target, kFarIpv6);
  EXPECT_TRUE(message.has_mac);
  EXPECT_EQ(message.mac, kNearMac);
}

TEST(ParseNeighbour, ReadsTheProbeOfAnAddress) {
  NeighbourMessage message;
  ASSERT_TRUE(parse_neighbour(bytes_of_hex(neighbour_frames::kProbe), message));
  EXPECT_TRUE(is_unspecified(message.source));
  EXPECT_EQ(message.target, kFarIpv6);
  EXPECT_FALSE(message.has_mac);
}

TEST(ParseNeighbour, ReadsAdvertisements) {
  NeighbourMessage message;
  ASSERT_TRUE(parse_neighbour(bytes_of_hex(neighbour_frames::kAdvertisement), message));
  EXPECT_TRUE(message.advertisement && message.router && message.solicited && message.override_);
  EXPECT_EQ(message.source, kNearIpv6);
  EXPECT_EQ(message.destination, kFarIpv6);
  EXPECT_EQ(message.target, kNearIpv6);
  EXPECT_TRUE(message.has_mac);
  EXPECT_EQ(message.mac, kNearMac);
  ASSERT_TRUE(parse_neighbour(bytes_of_hex(neighbour_frames::kUnsolicited), message));
  EXPECT_TRUE(message.advertisement && message.override_);
  EXPECT_FALSE(message.router || message.solicited);
  EXPECT_EQ(message.destination, kIpv6AllNodes);
}

TEST(ParseNeighbour, TakesWhatTheRfcLetsPass) {
  for (const auto& [what, hex, has_mac] : neighbour_frames::kTakenNeighbours) {
    NeighbourMessage message;
    ASSERT_TRUE(parse_neighbour(bytes_of_hex(hex), message)) << what;
    EXPECT_EQ(message.has_mac, has_mac) << what;
    EXPECT_EQ(message.mac, has_mac ? kNearMac : MacAddress{}) << what;
  }
}

TEST(ParseNeighbour, RefusesAllElseAndLeavesTheMessage) {
  for (const auto& [what, hex] : neighbour_frames::kRefusedNeighbours) {
    NeighbourMessage message;
    message.target[7] = 77;
    EXPECT_FALSE(parse_neighbour(bytes_of_hex(hex), message)) << what;
    EXPECT_EQ(message.target[7], 77) << what;
    EXPECT_FALSE(message.has_mac) << what;
  }
}

TEST(ParseNeighbour, RefusesAFrameThatIsCutAnywhere) {
  const std::vector<std::byte> whole = bytes_of_hex(neighbour_frames::kSolicitation);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    NeighbourMessage message;
    EXPECT_FALSE(parse_neighbour(cut, message)) << size;
    RouterSolicitation solicitation;
    EXPECT_FALSE(parse_router_solicitation(cut, solicitation)) << size;
  }
}

TEST(WriteNeighbour, WritesWhatScapyWrites) {
  std::vector<std::byte> frame(kNeighbourFrameBytes, std::byte{0xee});
  const Ipv6Bytes group = solicited_node(kFarIpv6);
  write_solicitation(frame, kNearMac, multicast_mac(group), kNearIpv6, group, kFarIpv6);
  EXPECT_EQ(hex_of_bytes(frame), neighbour_frames::kSolicitation);
  write_advertisement(frame, kNearMac, kFarMac, kNearIpv6, kFarIpv6, kNearIpv6, true, true, true);
  EXPECT_EQ(hex_of_bytes(frame), neighbour_frames::kAdvertisement);
  write_advertisement(frame, kNearMac, multicast_mac(kIpv6AllNodes), kNearIpv6, kIpv6AllNodes,
                      kNearIpv6, false, false, true);
  EXPECT_EQ(hex_of_bytes(frame), neighbour_frames::kUnsolicited);
  std::vector<std::byte> probe(kAddressProbeBytes, std::byte{0xee});
  write_address_probe(probe, kNearMac, kFarIpv6);
  EXPECT_EQ(hex_of_bytes(probe), neighbour_frames::kProbe);
}

TEST(WriteNeighbour, WritesEachFlagByItself) {
  std::vector<std::byte> frame(kNeighbourFrameBytes);
  for (unsigned flags = 0; flags < 8; ++flags) {
    const bool router = (flags & 1) != 0, solicited = (flags & 2) != 0, over = (flags & 4) != 0;
    write_advertisement(frame, kNearMac, kFarMac, kNearIpv6, kFarIpv6, kNearIpv6, router, solicited,
                        over);
    NeighbourMessage message;
    ASSERT_TRUE(parse_neighbour(frame, message));
    EXPECT_EQ(message.router, router);
    EXPECT_EQ(message.solicited, solicited);
    EXPECT_EQ(message.override_, over);
  }
}

TEST(WriteNeighbourDeathTest, WantsAFrameOfTheRightSizeAndASource) {
  std::vector<std::byte> frame(kNeighbourFrameBytes - 1);
  EXPECT_DEATH(write_solicitation(frame, kNearMac, kFarMac, kNearIpv6, kFarIpv6, kFarIpv6),
               "CHECK");
  EXPECT_DEATH(write_advertisement(frame, kNearMac, kFarMac, kNearIpv6, kFarIpv6, kFarIpv6, false,
                                   false, false),
               "CHECK");
  EXPECT_DEATH(write_address_probe(frame, kNearMac, kFarIpv6), "CHECK");
  frame.resize(kNeighbourFrameBytes);
  EXPECT_DEATH(write_solicitation(frame, kNearMac, kFarMac, {}, kFarIpv6, kFarIpv6), "CHECK");
}

std::string written_redirect(const NeighbourRedirect& redirect,
                             const std::vector<std::byte>& packet) {
  const std::size_t front = redirect_front_bytes(redirect);
  const std::size_t quoted = redirect_quote_bytes(redirect, packet.size());
  std::vector<std::byte> frame(front + quoted, std::byte{0xee});
  std::copy_n(packet.begin(), quoted, frame.begin() + static_cast<long>(front));
  const Ipv6Bytes source = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  write_redirect(std::span(frame).first(front), std::span(frame).subspan(front), kFarMac, kNearMac,
                 source, kNearIpv6, redirect);
  return hex_of_bytes(frame);
}

TEST(Redirect, IsWhatScapyWrites) {
  NeighbourRedirect redirect{
      .target = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9},
      .destination = {0x20, 1, 0x0d, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}};
  const std::vector<std::byte> packet = bytes_of_hex(neighbour_frames::kRedirected);
  EXPECT_EQ(written_redirect(redirect, packet), neighbour_frames::kRedirectWithoutMac);
  constexpr MacAddress kMac = {2, 0, 0, 0, 0, 9};
  redirect.target_mac = &kMac;
  EXPECT_EQ(written_redirect(redirect, packet), neighbour_frames::kRedirect);
}

TEST(Redirect, QuotesWholeUnitsOfEightBytesUpToTheMinimumMtu) {
  constexpr MacAddress kMac = {2, 0, 0, 0, 0, 9};
  NeighbourRedirect redirect;
  EXPECT_EQ(redirect_quote_bytes(redirect, 40), 40u);
  EXPECT_EQ(redirect_quote_bytes(redirect, 47), 40u);
  EXPECT_EQ(redirect_quote_bytes(redirect, 48), 48u);
  for (const MacAddress* mac : {static_cast<const MacAddress*>(nullptr), &kMac}) {
    redirect.target_mac = mac;
    const std::size_t most = redirect_quote_bytes(redirect, 9000);
    EXPECT_LE(redirect_front_bytes(redirect) + most, 14u + 1280);
    EXPECT_GT(redirect_front_bytes(redirect) + most, 14u + 1280 - 8);
    const std::string hex = written_redirect(redirect, std::vector<std::byte>(9000));
    EXPECT_EQ(hex.size(), 2 * (redirect_front_bytes(redirect) + most));
  }
}

TEST(RedirectDeathTest, WantsRoomForWhatItSays) {
  std::vector<std::byte> frame(kRedirectFrontBytesMax);
  EXPECT_DEATH(write_redirect(frame, {}, kFarMac, kNearMac, kNearIpv6, kFarIpv6, {}), "CHECK");
  EXPECT_DEATH(write_redirect(std::span(frame).first(frame.size() - 8), std::span(frame).first(41),
                              kFarMac, kNearMac, kNearIpv6, kFarIpv6, {}),
               "CHECK");
}

TEST(RouterSolicitation, IsKnownAndCheckedByTheRfc) {
  for (const auto& [what, hex] : neighbour_frames::kRouterSolicitations) {
    RouterSolicitation solicitation;
    EXPECT_TRUE(parse_router_solicitation(bytes_of_hex(hex), solicitation)) << what;
    const bool has_mac = std::string(what) == "with a link-layer address";
    EXPECT_EQ(solicitation.has_mac, has_mac) << what;
    EXPECT_EQ(solicitation.mac, has_mac ? kNearMac : MacAddress{}) << what;
    EXPECT_EQ(is_unspecified(solicitation.source), std::string(what) == "from ::") << what;
    EXPECT_EQ(solicitation.destination, kIpv6AllRouters) << what;
    NeighbourMessage message;
    EXPECT_FALSE(parse_neighbour(bytes_of_hex(hex), message)) << what;
  }
  for (const auto& [what, hex] : neighbour_frames::kRefusedRouterSolicitations) {
    RouterSolicitation solicitation{.has_mac = true};
    EXPECT_FALSE(parse_router_solicitation(bytes_of_hex(hex), solicitation)) << what;
    EXPECT_TRUE(solicitation.has_mac) << "as it was: " << what;
  }
}

std::string written_advertisement(const RouterAdvertisement& advertisement) {
  std::vector<std::byte> frame(kRouterAdvertisementBytesMax, std::byte{0xee});
  const std::size_t bytes = write_router_advertisement(
      frame, kNearMac, multicast_mac(kIpv6AllNodes), kNearLinkLocal, kIpv6AllNodes, advertisement);
  return hex_of_bytes(std::span(frame).first(bytes));
}

Ipv6Bytes documentation_prefix(std::uint8_t byte_four, std::uint8_t byte_five) {
  return {0x20, 1, 0x0d, 0xb8, byte_four, byte_five, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
}

TEST(RouterAdvertisement, IsWhatScapyWrites) {
  EXPECT_EQ(written_advertisement({.hop_limit = 0, .router_lifetime_s = 0, .prefixes = {}}),
            neighbour_frames::kPlainRouterAdvertisement);

  std::array<AdvertisedPrefix, 2> two;
  two[0].prefix = documentation_prefix(0, 1);
  two[0].prefix[15] = 9;  // bits behind the prefix are not sent
  two[1] = {.prefix = documentation_prefix(0xff, 1),
            .length = 33,
            .on_link = true,
            .autonomous = false,
            .valid_lifetime_s = 0xffffffff,
            .preferred_lifetime_s = 7};
  EXPECT_EQ(written_advertisement({.managed = true,
                                   .other = true,
                                   .reachable_time_ms = 30'000,
                                   .retransmit_time_ms = 1000,
                                   .mtu = 1500,
                                   .prefixes = two}),
            neighbour_frames::kRouterAdvertisement);
}

TEST(RouterAdvertisement, HoldsEightPrefixes) {
  std::array<AdvertisedPrefix, kAdvertisedPrefixesMax> eight;
  for (std::uint8_t i = 0; i < eight.size(); ++i) {
    eight[i] = {.prefix = documentation_prefix(0, i),
                .on_link = false,
                .valid_lifetime_s = 100u + i,
                .preferred_lifetime_s = i};
  }
  EXPECT_EQ(written_advertisement({.other = true, .prefixes = eight}),
            neighbour_frames::kFullRouterAdvertisement);
  EXPECT_EQ(written_advertisement({.mtu = 1280, .prefixes = eight}).size(),
            2 * kRouterAdvertisementBytesMax);
}

TEST(RouterAdvertisementDeathTest, WantsRoomAndPrefixesWithinTheirLimits) {
  std::array<AdvertisedPrefix, kAdvertisedPrefixesMax + 1> nine;
  EXPECT_DEATH(written_advertisement({.prefixes = nine}), "CHECK");
  nine[0].length = 129;
  EXPECT_DEATH(written_advertisement({.prefixes = std::span(nine).first(1)}), "CHECK");
  std::vector<std::byte> frame(kRouterAdvertisementBytesMax - 1);
  EXPECT_DEATH(write_router_advertisement(frame, kNearMac, kFarMac, kNearIpv6, kFarIpv6, {}),
               "CHECK");
}

}  // namespace
}  // namespace millrace
