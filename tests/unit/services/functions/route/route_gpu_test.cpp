// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/route_gpu.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/services/functions/device_memory_fake.hpp"
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
  const auto table = view_in<RouteTable>(uploaded);
  EXPECT_NE(table.table24, routes.table().table24) << "not copied";
  std::mt19937 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t address =
        i % 2 == 0 ? static_cast<std::uint32_t>(random()) : 0x0a010200 + random() % 512;
    ASSERT_EQ(table.look_up(address), routes.table().look_up(address)) << address;
  }
  EXPECT_EQ(table.own_filter, routes.table().own_filter);
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
  const auto table = view_in<RouteTable>(upload_route(routes.context().function, memory));
  const Ipv6Routes& here = routes.table().ipv6;
  EXPECT_NE(table.ipv6.table24, here.table24) << "not copied";
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const Ipv6Address address =
        i % 2 == 0 ? Ipv6Address{random(), random()}
                   : Ipv6Address{0x20010db8'00000000 | random() >> 40 << 8, random() % 3};
    ASSERT_EQ(table.ipv6.look_up(address), here.look_up(address)) << ipv6_text(address);
  }
  EXPECT_EQ(table.ipv6.own_filter, here.own_filter);
  EXPECT_TRUE(table.ipv6.is_own(ipv6("2001:db8::1")));
  EXPECT_FALSE(table.ipv6.is_own(ipv6("2001:db8::2")));

  const BuiltRoutes ipv4("10.0.0.0/8 drop\n");
  EXPECT_FALSE(view_in<RouteTable>(upload_route(ipv4.context().function, memory)).ipv6.present());
}

}  // namespace
}  // namespace millrace
