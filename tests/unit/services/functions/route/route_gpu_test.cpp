// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/route_gpu.hpp"

#include <gtest/gtest.h>

#include <random>

#include "services/functions/route/live/route_follower.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"
#include "tests/unit/services/functions/route/live/live_world.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"

namespace millrace {
namespace {

TEST(RouteGpu, TheCopyLooksUpLikeTheImage) {
  const BuiltRoutes routes(
      "0.0.0.0/0 wan 02:00:00:00:00:01\n10.0.0.0/8 drop\n10.1.2.0/25 lan 02:00:00:00:00:02\n"
      "10.1.2.9/32 wan 02:00:00:00:00:03\n");
  FakeDeviceMemory memory;
  const DeviceTable uploaded = upload_route(routes.context().function, memory);
  EXPECT_EQ(uploaded.kind, DeviceKind::kRoute);
  const auto view = view_in<RouteGpuTable>(uploaded);
  EXPECT_EQ(view.now, nullptr) << "it never changes";
  EXPECT_FALSE(memory.has_followers());
  const RouteTable& table = view.table;
  EXPECT_NE(table.table24, routes.table().table24) << "not copied";
  std::mt19937 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t address =
        i % 2 == 0 ? static_cast<std::uint32_t>(random()) : 0x0a010200 + random() % 512;
    ASSERT_EQ(table.look_up(address), routes.table().look_up(address)) << address;
  }
  EXPECT_NE(table.own_filter, routes.table().own_filter) << "not copied";
  EXPECT_EQ(*table.own_filter, *routes.table().own_filter);
  EXPECT_TRUE(std::ranges::equal(table.own, routes.table().own));
  EXPECT_FALSE(table.own.empty());
}

TEST(RouteGpu, TheCopyLooksUpIpv6LikeTheImage) {
  std::string text =
      "::/0 wan 02:00:00:00:00:01\n2001:db8::/32 drop\n2001:db8::/64 lan "
      "02:00:00:00:00:02\n";
  // More runs than a node has room for.
  for (int i = 0; i < 20; ++i) {
    text += "2001:db8:" + std::to_string(i) +
            "00::/40 wan 02:00:00:00:01:" + std::to_string(10 + i) + "\n";
  }
  const BuiltRoutes routes(text);
  FakeDeviceMemory memory;
  const RouteTable table =
      view_in<RouteGpuTable>(upload_route(routes.context().function, memory)).table;
  const Ipv6Routes& here = routes.table().ipv6;
  EXPECT_NE(table.ipv6.table24, here.table24) << "not copied";
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const Ipv6Address address =
        i % 2 == 0 ? Ipv6Address{random(), random()}
                   : Ipv6Address{0x20010db8'00000000 | random() >> 40 << 8, random() % 3};
    ASSERT_EQ(table.ipv6.look_up(address), here.look_up(address)) << ipv6_text(address);
  }
  EXPECT_EQ(*table.ipv6.own_filter, *here.own_filter);
  EXPECT_TRUE(table.ipv6.is_own(ipv6("2001:db8::1")));
  EXPECT_FALSE(table.ipv6.is_own(ipv6("2001:db8::2")));

  const BuiltRoutes ipv4("10.0.0.0/8 drop\n");
  const DeviceTable without = upload_route(ipv4.context().function, memory);
  EXPECT_FALSE(view_in<RouteGpuTable>(without).table.ipv6.present());
}

TEST(RouteGpu, TheCopyOfALiveTableFollowsIt) {
  const test::LiveWorld world("198.51.100.0/24 drop\n", true);
  FakeDeviceMemory memory;
  const auto view = view_in<RouteGpuTable>(upload_route(world.function(), memory));
  ASSERT_NE(view.now, nullptr);
  EXPECT_EQ(*view.now, reinterpret_cast<const std::byte*>(view.table.table24));
  ASSERT_TRUE(memory.has_followers());
  RouteFollower follower(world.path(), world.ports(), true);
  follower.begin_dump();
  follower.end_dump();
  follower.apply(test::kernel_route("10.1.2.0/24", "wan", 7));
  follower.apply(test::kernel_route("2001:db8:7::/48", "wan", 7));
  test::NoReader grace;
  EXPECT_NE(memory.follow(grace).words, 0u);
  EXPECT_EQ(view.table.look_up(0x0a010203), world.table().look_up(0x0a010203));
  EXPECT_GE(view.table.look_up(0x0a010203), kHopFirst);
  const Ipv6Address address = ipv6("2001:db8:7::1");
  EXPECT_EQ(view.table.ipv6.look_up(address), world.table().ipv6.look_up(address));
  EXPECT_TRUE(view.table.ipv6.is_own(ipv6("2001:db8::1"))) << "which does not move";
}

}  // namespace
}  // namespace millrace
