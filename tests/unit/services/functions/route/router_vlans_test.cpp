// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/router_vlans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "shared/layout/batch_arena.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Bytes = std::vector<std::byte>;

/// MAC addresses, tags, and an empty IPv4 header.
Bytes frame(std::initializer_list<unsigned> tags) {
  Bytes bytes(12, std::byte{0xee});
  for (const unsigned tag : tags) bytes.push_back(static_cast<std::byte>(tag));
  bytes.insert(bytes.end(), {std::byte{8}, std::byte{0}});
  bytes.resize(bytes.size() + 20);
  return bytes;
}

class RouterVlansTest : public testing::Test {
 protected:
  bool strip(const Bytes& bytes, std::uint8_t port_in = 0) {
    arena_.add(bytes);
    const Batch batch = arena_.batch();
    return vlans_.strip(batch, static_cast<std::uint16_t>(batch.count - 1), port_in);
  }
  Bytes last() {
    const Batch batch = arena_.batch();
    const auto bytes = batch.bytes(batch.count - 1u);
    return {bytes.begin(), bytes.end()};
  }

  const std::vector<PlanPort> ports_ = {
      {.name = "trunk", .device = "null"},
      {.name = "office", .device = "vlan", .settings = {{"id", "10"}, {"link", "trunk"}}},
      {.name = "customer",
       .device = "vlan",
       .settings = {{"id", "20"}, {"link", "trunk"}, {"outer", "100"}}},
      {.name = "other", .device = "null"}};
  RouterVlans vlans_{ports_};
  BatchArena arena_{64};
};

TEST_F(RouterVlansTest, TagsOfAPortComeOff) {
  EXPECT_TRUE(strip(frame({0x81, 0, 0, 10})));
  EXPECT_EQ(last(), frame({}));
  EXPECT_TRUE(strip(frame({0x81, 0, 0xe0, 10}))) << "with a priority";
  EXPECT_TRUE(strip(frame({0x88, 0xa8, 0, 100, 0x81, 0, 0, 20})));
  EXPECT_EQ(last(), frame({}));
  EXPECT_TRUE(strip(frame({0x81, 0, 0x60, 0}), 3)) << "a priority alone";
}

TEST_F(RouterVlansTest, OthersStayAsTheyAre) {
  for (const Bytes& bytes :
       {frame({}), frame({0x81, 0, 0, 11}), frame({0x81, 0, 0, 20}),
        frame({0x88, 0xa8, 0, 100, 0x81, 0, 0, 10}), frame({0x88, 0xa8, 0, 0, 0x81, 0, 0, 10}),
        frame({0x88, 0xa8, 0, 100}), frame({0x91, 0, 0, 10})}) {
    EXPECT_FALSE(strip(bytes));
    EXPECT_EQ(last(), bytes);
  }
  EXPECT_FALSE(strip(frame({0x81, 0, 0, 10}), 3)) << "of another port";
  EXPECT_TRUE(vlans_.empty());
}

TEST_F(RouterVlansTest, AFrameThatIsCutStaysAsItIs) {
  const Bytes whole = frame({0x88, 0xa8, 0, 100, 0x81, 0, 0, 20});
  for (std::size_t bytes = 0; bytes < 22; ++bytes) {
    EXPECT_FALSE(strip({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)}))
        << bytes;
  }
}

TEST_F(RouterVlansTest, PacketsOfAPortComeTogetherInTheirOrder) {
  for (const unsigned id : {10u, 0u, 10u, 0u, 10u}) strip(frame({0x81, 0, 0, id}));
  const RouterVlans::Group office = vlans_.next();
  EXPECT_EQ(office.port, 1);
  EXPECT_THAT(office.packets, ElementsAre(0, 2, 4));
  const RouterVlans::Group trunk = vlans_.next();
  EXPECT_EQ(trunk.port, 0);
  EXPECT_THAT(trunk.packets, ElementsAre(1, 3));
  EXPECT_TRUE(vlans_.empty());
  EXPECT_THAT(vlans_.next().packets, IsEmpty());
}

}  // namespace
}  // namespace millrace
