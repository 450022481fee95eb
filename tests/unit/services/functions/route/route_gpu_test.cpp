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

}  // namespace
}  // namespace millrace
