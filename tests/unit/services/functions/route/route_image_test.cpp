// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;

TEST(RouteImage, PartsThatLieElsewhereAreRefused) {
  RouteHeader counts{};
  counts.own_count = counts.port_count = 1;
  counts.hop_count = kHopFirst;
  std::uint64_t bytes = 0;
  const RouteHeader right = lay_out_route_image(counts, bytes);
  std::vector<std::uint64_t> memory(bytes / 8 + 1);
  const auto error_of = [&](const RouteHeader& header, std::size_t length) -> std::string {
    std::memcpy(reinterpret_cast<std::byte*>(memory.data()) + sizeof(ImageHeader), &header,
                sizeof header);
    try {
      view_route_image({reinterpret_cast<const std::byte*>(memory.data()), length});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(right, bytes), "no error");
  EXPECT_THAT(error_of(right, bytes - 1), HasSubstr("parts"));
  EXPECT_THAT(error_of(right, 100), HasSubstr("shorter"));
  RouteHeader wrong = right;
  wrong.table24_at += 8;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("parts"));
  wrong = right;
  wrong.ipv6_run_count = 1;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("parts"));
  wrong.ipv6_run_count = kIpv6RunCountMax + 1;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("limit"));
  wrong = right;
  wrong.hop_count = 0;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("limit"));
  wrong.hop_count = kHopFirst;
  wrong.port_count = kPortCountMax + 1;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("limit"));
  wrong = right;
  wrong.journal_count = 3;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("limit")) << "no power of two";
  auto* hops_at =
      reinterpret_cast<RouteHop*>(reinterpret_cast<std::byte*>(memory.data()) + right.hops_at);
  hops_at[2].port = 1;
  EXPECT_THAT(error_of(right, bytes), HasSubstr("next hop"));
}

TEST(RouteImage, AGroupWithoutWholeMembersIsRefused) {
  RouteHeader counts{};
  counts.port_count = 1;
  counts.hop_count = kHopFirst + 2;
  counts.member_count = 3;
  std::uint64_t bytes = 0;
  const RouteHeader header = lay_out_route_image(counts, bytes);
  std::vector<std::uint64_t> memory(bytes / 8 + 1);
  auto* const base = reinterpret_cast<std::byte*>(memory.data());
  std::memcpy(base + sizeof(ImageHeader), &header, sizeof header);
  auto* const hops = reinterpret_cast<RouteHop*>(base + header.hops_at);
  auto* const members = reinterpret_cast<RouteMember*>(base + header.members_at);
  RouteHop& group = hops[kHopFirst];
  group.kind = static_cast<std::uint8_t>(RouteHopKind::kGroup);
  group.member_count = 2;
  group.first_member = 1;
  hops[kHopDefault].reason = static_cast<std::uint8_t>(RouteReason::kNoRoute);
  const auto is_refused = [&] {
    try {
      view_route_image({base, bytes});
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("group"));
      return true;
    }
    return false;
  };
  const auto reset = [&] {
    members[1] = {.last = 7, .hop = kHopFirst + 1};
    members[2] = {.last = UINT32_MAX, .hop = kHopFirst + 1};
    group.member_count = 2;
    group.first_member = 1;
  };
  reset();
  EXPECT_FALSE(is_refused());
  group.member_count = 0;
  EXPECT_TRUE(is_refused());
  group.member_count = 3;
  EXPECT_TRUE(is_refused()) << "beyond the end";
  reset();
  group.first_member = UINT32_MAX;
  EXPECT_TRUE(is_refused());
  reset();
  members[2].last = UINT32_MAX - 1;
  EXPECT_TRUE(is_refused()) << "a hash without a member";
  reset();
  members[1].last = UINT32_MAX;
  EXPECT_TRUE(is_refused()) << "a member without a hash";
  for (const std::uint32_t hop : {kHopFirst, kHopFirst + 2, std::uint32_t{kHopDefault}}) {
    reset();
    members[1].hop = hop;
    EXPECT_TRUE(is_refused()) << "a group, none, and one that does not forward: " << hop;
  }
  RouteHeader more = counts;
  more.member_count = kMemberCountMax + 1;
  std::memcpy(base + sizeof(ImageHeader), &more, sizeof more);
  EXPECT_THROW(view_route_image({base, bytes}), Error);
}

TEST(RouteImage, TheIpv6PartIsThereForItsCountsAndLiesOnPages) {
  RouteHeader counts{};
  counts.hop_count = kHopFirst;
  counts.block_count = 1;
  std::uint64_t without = 0, with = 0;
  const RouteHeader ipv4 = lay_out_route_image(counts, without);
  EXPECT_EQ(ipv4.ipv6_table24_at, 0u);
  counts.ipv6_run_count = 3;
  counts.ipv6_node_count = 2;
  counts.ipv6_own_count = 1;
  const RouteHeader both = lay_out_route_image(counts, with);
  EXPECT_EQ(both.blocks_at, ipv4.blocks_at);
  EXPECT_GE(both.ipv6_table24_at, without);
  EXPECT_EQ(both.ipv6_table24_at % kImagePageBytes, 0u);
  EXPECT_EQ(both.ipv6_nodes_at % sizeof(Ipv6Node), 0u);
  EXPECT_EQ(both.ipv6_runs_at, both.ipv6_nodes_at + 128);
  EXPECT_EQ(both.ipv6_own_at, both.ipv6_runs_at + 16);
  EXPECT_EQ(with, both.ipv6_own_at + 16);
}

}  // namespace
}  // namespace millrace
