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
  std::uint64_t bytes = 0;
  const RouteHeader right = lay_out_route_image(1, 1, kHopFirst, 0, bytes);
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
  wrong.hop_count = 0;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("limit"));
  wrong.hop_count = kHopFirst;
  wrong.port_count = kPortCountMax + 1;
  EXPECT_THAT(error_of(wrong, bytes), HasSubstr("limit"));
  auto* hops_at =
      reinterpret_cast<RouteHop*>(reinterpret_cast<std::byte*>(memory.data()) + right.hops_at);
  hops_at[2].port = 1;
  EXPECT_THAT(error_of(right, bytes), HasSubstr("next hop"));
}

}  // namespace
}  // namespace millrace
