// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/neighbour_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/shared/layout/neighbour_memory.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kListMs = 100'000;
constexpr NeighbourNews kProven{.only_update = false, .overrides = true, .confirms = true};

class NeighbourListTest : public testing::Test {
 protected:
  NeighbourKey key(const std::string& address, std::uint32_t port) {
    return key_of_address(address, port).value();
  }
  void fill() {
    const NeighbourTableView table = memory_.table();
    table.learn(key("10.0.0.20", 1), {2, 0, 0, 0, 0, 0x14}, kListMs - 3200, kProven);
    table.learn(key("fe80::1", 0), {2, 0, 0, 0, 0, 1}, kListMs, kProven);
    table.learn(key("10.0.0.3", 1), {2, 0, 0, 0, 0, 3}, kListMs, kProven);
    table.look_up(table.find_or_insert(key("10.0.0.9", 1), kListMs, true), kListMs);
  }
  NeighbourList list(std::optional<std::uint32_t> port = std::nullopt) {
    return list_neighbours(memory_.table(), kListMs, port);
  }
  Plan plan_ = plan_of_text(kTwoPaths);  // ports a and b
  NeighbourMemory memory_;
};

TEST_F(NeighbourListTest, AreInTheOrderOfPortFamilyAndAddress) {
  fill();
  std::vector<std::string> addresses;
  for (const NeighbourSnapshot& entry : list().entries)
    addresses.push_back(address_text(entry.key));
  EXPECT_EQ(addresses, (std::vector<std::string>{"fe80::1", "10.0.0.3", "10.0.0.9", "10.0.0.20"}));
  EXPECT_EQ(list(1).entries.size(), 3u);
  EXPECT_EQ(list(2).entries.size(), 0u);
}

TEST_F(NeighbourListTest, ALineSaysAddressPortMacStateAndAge) {
  fill();
  EXPECT_EQ(
      neighbours_text(plan_, list(), false),
      "address         port    mac                state       confirmed   used\n"
      "fe80::1         a       02:00:00:00:00:01  reachable   0.0 s       0.0 s\n"
      "10.0.0.3        b       02:00:00:00:00:03  reachable   0.0 s       0.0 s\n"
      "10.0.0.9        b       -                  incomplete  -           0.0 s     asked once, "
      "stays\n"
      "10.0.0.20       b       02:00:00:00:00:14  reachable   3.2 s       3.2 s\n"
      "4 neighbours: 3 reachable, 1 incomplete; room for 64\n");
  EXPECT_THAT(neighbours_text(plan_, list(), true), HasSubstr("\033[32mreachable"));
}

TEST_F(NeighbourListTest, AnEmptyTableSaysSo) {
  EXPECT_EQ(neighbours_text(plan_, list(), true), "no neighbours; room for 64\n");
  EXPECT_EQ(neighbours_json(plan_, list())["neighbours"].size(), 0u);
}

TEST_F(NeighbourListTest, WhatGaveWayAndWhatFoundNoPlaceIsTold) {
  NeighbourList full{.entries = {}, .now_ms = kListMs, .capacity = 64, .evicted = 7, .full = 2};
  EXPECT_EQ(neighbours_text(plan_, full, false),
            "no neighbours; room for 64, 7 gave way to others, 2 found no place\n");
  const auto json = neighbours_json(plan_, full);
  EXPECT_EQ(json["evicted"], 7);
  EXPECT_EQ(json["full"], 2);
  EXPECT_EQ(json["room"], 64);
}

TEST_F(NeighbourListTest, DataHasWhatIsKnown) {
  fill();
  const auto json = neighbours_json(plan_, list(1));
  ASSERT_EQ(json["neighbours"].size(), 3u);
  const auto& unknown = json["neighbours"][1];
  EXPECT_EQ(unknown["address"], "10.0.0.9");
  EXPECT_EQ(unknown["port"], "b");
  EXPECT_EQ(unknown["state"], "incomplete");
  EXPECT_EQ(unknown["asks"], 1);
  EXPECT_EQ(unknown["stays"], true);
  EXPECT_FALSE(unknown.contains("mac") || unknown.contains("confirmed_s"));
  const auto& known = json["neighbours"][2];
  EXPECT_EQ(known["mac"], "02:00:00:00:00:14");
  EXPECT_EQ(known["confirmed_s"], 3.2);
}

TEST_F(NeighbourListTest, APortThatThePlanDoesNotHaveIsNoHarm) {
  memory_.table().learn(key("10.0.0.1", 77), {2, 0, 0, 0, 0, 1}, kListMs, kProven);
  EXPECT_THAT(neighbours_text(plan_, list(), false), HasSubstr("10.0.0.1        ?       02:"));
}

TEST(KeyOfAddress, IsOfBothFamiliesAndOfNothingElse) {
  EXPECT_EQ(key_of_address("10.0.0.3", 2)->family, NeighbourFamily::kIpv4);
  EXPECT_EQ(key_of_address("fe80::1", 2)->port, 2);
  for (const char* const text : {"", "10.0.0", "10.0.0.0/8", "lan", "fe80::1%lan"}) {
    EXPECT_FALSE(key_of_address(text, 0)) << text;
  }
}

}  // namespace
}  // namespace millrace::test
