// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/port_blocks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "shared/layout/mapping.hpp"

namespace millrace::port_blocks_test {
namespace {

constexpr std::uint8_t kTcp = 6;

/// Ports of one lane, with hosts that are kept in the state's last line.
struct Ports {
  explicit Ports(const PortRange& of, std::uint32_t lane = 0)
      : memory(Mapping::create_anonymous(PortBlocks::bytes_for(of) + kCacheLine)),
        state{.bytes = {memory.base(), PortBlocks::bytes_for(of) + kCacheLine}},
        blocks(state, 0, of, lane) {}
  PortOwner& owner(std::size_t number) {
    auto* const last = memory.base() + state.bytes.size() - kCacheLine;
    return reinterpret_cast<PortOwner*>(last)[number];
  }
  std::optional<PortBlocks::Port> take(std::uint32_t number, std::uint16_t wanted) {
    const PortWish wish{.owner = number, .port = wanted, .protocol = kTcp, .hash_of_port = wanted};
    const auto port = blocks.find(wish, owner(number));
    if (port) blocks.take(*port, wish, owner(number));
    return port;
  }

  Mapping memory;
  LaneState state;
  PortBlocks blocks;
};

TEST(PortBlocks, GivesEveryPortOfTheRangeOnceAcrossLanesAndAddresses) {
  for (const PortRange range :
       {PortRange{1024, 1400, 16, 3, 2}, PortRange{1025, 1026, 2, 1, 1},
        PortRange{1030, 5000, 64, 8, 1}, PortRange{60000, 65535, 1024, 2, 3},
        PortRange{1024, 1030, 64, 4, 1}}) {
    std::set<std::pair<std::uint32_t, std::uint16_t>> all;
    for (std::uint32_t lane = 0; lane < range.lanes; ++lane) {
      Ports ports(range, lane);
      for (std::uint32_t host = 0; host < range.addresses; ++host) {  // each takes a whole address
        while (const auto port = ports.take(host, 1)) {
          EXPECT_GE(port->port, range.first);
          EXPECT_LE(port->port, range.last);
          EXPECT_EQ(port->port / range.block % range.lanes, lane);
          EXPECT_TRUE(all.emplace(ports.blocks.address_of(port->block), port->port).second);
        }
      }
    }
    EXPECT_EQ(all.size(), range.addresses * (range.last - range.first + 1u));
  }
}

TEST(PortBlocks, ABlockIsNobodysWhenItsLastPortIsFree) {
  Ports ports({1024, 1087, 32, 1, 1});
  const auto one = ports.take(0, 1), two = ports.take(0, 1);
  EXPECT_EQ(one->block, two->block);
  EXPECT_TRUE(ports.take(1, 1));
  EXPECT_EQ(ports.blocks.taken(), 2u);
  EXPECT_FALSE(ports.take(2, 1));
  ports.blocks.give_back(*one, kTcp, ports.owner(0));
  EXPECT_FALSE(ports.take(2, 1));
  ports.blocks.give_back(*two, kTcp, ports.owner(0));
  EXPECT_EQ(ports.owner(0).first_block, 0u);
  EXPECT_EQ(ports.take(2, 1)->block, one->block);
}

TEST(PortBlocks, KeepsAPortWhileHalfOfTheBlocksAreNobodys) {
  Ports ports({1024, 1024 + 4 * 16 - 1, 16, 1, 1});
  EXPECT_EQ(ports.take(0, 1030)->port, 1030);
  EXPECT_EQ(ports.take(0, 1045)->port, 1045);  // takes a second block
  EXPECT_EQ(ports.take(0, 1046)->port, 1046);
  const auto third = ports.take(0, 1060);
  EXPECT_LT(third->port, 1024 + 32);
  EXPECT_EQ(ports.blocks.taken(), 2u);
}

}  // namespace
}  // namespace millrace::port_blocks_test
