// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/kernel_neighbours.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Bytes = std::vector<std::byte>;

constexpr MacAddress kMac = {2, 0, 0, 0, 0, 5};
constexpr NeighbourKey kIpv4Key = {.family = NeighbourFamily::kIpv4, .address = {10, 1, 0, 5}};
constexpr NeighbourKey kIpv6Key = {
    .family = NeighbourFamily::kIpv6,
    .address = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}};

struct Spec {
  std::uint16_t type = RTM_NEWNEIGH;
  std::uint16_t state = NUD_PERMANENT;
  std::uint8_t flags = 0;
  int family = AF_INET;
  std::size_t address_bytes = 4;
  bool has_mac = true;
  MacAddress mac = kMac;
};

void append(Bytes& to, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  to.insert(to.end(), at, at + bytes);
  to.resize(NLMSG_ALIGN(to.size()));
}

void append_attribute(Bytes& to, std::uint16_t type, const void* data, std::size_t bytes) {
  const rtattr header{static_cast<std::uint16_t>(RTA_LENGTH(bytes)), type};
  append(to, &header, sizeof header);
  append(to, data, bytes);
}

/// Of 10.1.0.5 or fe80::5 at interface 7.
Bytes message(const Spec& spec = {}) {
  Bytes bytes(NLMSG_HDRLEN);
  ndmsg body{};
  body.ndm_family = static_cast<std::uint8_t>(spec.family);
  body.ndm_ifindex = 7;
  body.ndm_state = spec.state;
  body.ndm_flags = spec.flags;
  append(bytes, &body, sizeof body);
  const NeighbourKey& key = spec.family == AF_INET ? kIpv4Key : kIpv6Key;
  append_attribute(bytes, NDA_DST, key.address.data(), spec.address_bytes);
  if (spec.has_mac) append_attribute(bytes, NDA_LLADDR, spec.mac.data(), spec.mac.size());
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(bytes.size());
  header.nlmsg_type = spec.type;
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

KernelNeighbour parsed(const Spec& spec) {
  const auto one = parse_kernel_neighbour(message(spec));
  EXPECT_TRUE(one);
  return one.value_or(KernelNeighbour{});
}

TEST(KernelNeighbours, APermanentOneOfEachFamilyIsFixed) {
  EXPECT_EQ(parsed({}), (KernelNeighbour{7, kIpv4Key, true, kMac}));
  EXPECT_EQ(parsed({.family = AF_INET6, .address_bytes = 16}),
            (KernelNeighbour{7, kIpv6Key, true, kMac}));
}

TEST(KernelNeighbours, WhichStatesAreFixed) {
  for (const std::uint16_t state : {NUD_PERMANENT, NUD_NOARP}) {
    EXPECT_TRUE(parsed({.state = state}).fixed) << state;
  }
  for (const std::uint16_t state : {NUD_REACHABLE, NUD_STALE, NUD_DELAY, NUD_PROBE}) {
    EXPECT_FALSE(parsed({.state = state}).fixed) << state;
    EXPECT_TRUE(parsed({.state = state, .flags = NTF_EXT_LEARNED}).fixed) << state;
  }
  for (const std::uint16_t state : {NUD_INCOMPLETE, NUD_FAILED, NUD_NONE}) {
    EXPECT_FALSE(parsed({.state = state, .flags = NTF_EXT_LEARNED}).fixed) << state;
  }
}

TEST(KernelNeighbours, OneThatIsGoneOrHasNoStationsMacIsNotFixed) {
  EXPECT_EQ(parsed({.type = RTM_DELNEIGH}), (KernelNeighbour{7, kIpv4Key, false, {}}));
  EXPECT_FALSE(parsed({.has_mac = false}).fixed);
  EXPECT_FALSE(parsed({.mac = {}}).fixed);
  EXPECT_FALSE(parsed({.state = NUD_NOARP, .mac = {1, 0, 0x5e, 0, 0, 1}}).fixed);
}

TEST(KernelNeighbours, OtherMessagesSayNothing) {
  EXPECT_FALSE(parse_kernel_neighbour(message({.type = RTM_NEWROUTE})));
  EXPECT_FALSE(parse_kernel_neighbour(message({.family = AF_BRIDGE})));
  EXPECT_FALSE(parse_kernel_neighbour(message({.flags = NTF_PROXY})));
  EXPECT_FALSE(parse_kernel_neighbour(message({.address_bytes = 3})));
  EXPECT_FALSE(parse_kernel_neighbour(message({.family = AF_INET6, .address_bytes = 4})));
}

TEST(KernelNeighbours, AMessageThatIsCutOrWrongIsReadAsFarAsItGoes) {
  for (const Spec& spec : {Spec{}, Spec{.family = AF_INET6, .address_bytes = 16}}) {
    for (std::size_t bytes = 0; bytes < message(spec).size(); ++bytes) {
      Bytes cut = message(spec);
      cut.resize(bytes);
      cut.shrink_to_fit();  // a sanitizer sees each byte behind it
      const auto one = parse_kernel_neighbour(cut);
      EXPECT_FALSE(one && one->fixed && bytes + 2 < message(spec).size()) << bytes;
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    Bytes wrong = message();
    for (int j = 0; j < 3; ++j) wrong[random() % wrong.size()] = std::byte(random());
    const auto one = parse_kernel_neighbour(wrong);
    EXPECT_TRUE(!one || one->fixed == is_station(one->mac));
  }
}

using KernelNeighboursTest = test::VethTest;

TEST_F(KernelNeighboursTest, ReadsTheFixedOnesOfBothFamilies) {
  shell("ip address add 10.1.0.1/24 dev here && ip -6 address add fe80::1/64 dev here nodad");
  EXPECT_THAT(read_kernel_neighbours(), IsEmpty());
  shell("ip neighbour add 10.1.0.5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  shell("ip neighbour add 10.1.0.6 lladdr 02:00:00:00:00:06 dev here nud reachable");
  shell("ip neighbour add fe80::5 lladdr 02:00:00:00:00:05 dev here nud permanent");
  shell("ip neighbour add proxy 10.1.0.9 dev here");
  const int here = static_cast<int>(::if_nametoindex("here"));
  EXPECT_THAT(read_kernel_neighbours(),
              UnorderedElementsAre(KernelNeighbour{here, kIpv4Key, true, kMac},
                                   KernelNeighbour{here, kIpv6Key, true, kMac}));
}

TEST_F(KernelNeighboursTest, MoreThanOneAnswerHolds) {
  shell(
      "for i in $(seq 1 250); do for j in $(seq 1 8); do echo neighbour add 10.$j.0.$i lladdr "
      "02:00:00:00:00:05 dev here nud permanent; done; done | ip -batch -");
  EXPECT_EQ(read_kernel_neighbours().size(), 2000u);
}

}  // namespace
}  // namespace millrace
