// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/ipv6_plain.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "tests/unit/services/functions/route/router_fixture.hpp"

namespace millrace::ipv6_plain_test {
namespace {

/// A packet of ICMPv6 with these extension headers in front.
RouteFrame frame_with(const std::string& extensions_hex, std::uint8_t first) {
  RouteFrame frame = make_ipv6_frame({.next_header = first});
  const RouteFrame extensions = bytes_of_hex(extensions_hex);
  frame.insert(frame.begin() + 54, extensions.begin(), extensions.end());
  put16(frame, 18, static_cast<std::uint32_t>(frame.size() - 54));
  frame.push_back(std::byte{0xee});  // padding
  return frame;
}

struct Taken : RouteFate {
  explicit Taken(const RouteFrame& frame) {
    arena_.add(frame);
    const auto ip = std::span<const std::byte>(frame).subspan(14);
    taken = take_extensions_out(batch(), 0, walk_extensions(ip));
  }
  bool taken = false;
};

TEST(Ipv6Plain, HeadersThatSayNothingMoreAreTakenOut) {
  RouteFrame plain = make_ipv6_frame({.next_header = 58});
  plain.push_back(std::byte{0xee});
  const std::string options = "3a00010400000000", routing = "3a00020000000000";
  const std::string atomic = "3a00000011223344", both = "3c00010400000000" + options;
  EXPECT_EQ(Taken(frame_with(options, 0)).frame(), plain);
  EXPECT_EQ(Taken(frame_with(options, 60)).frame(), plain);
  EXPECT_EQ(Taken(frame_with(routing, 43)).frame(), plain);
  EXPECT_EQ(Taken(frame_with(atomic, 44)).frame(), plain);
  EXPECT_EQ(Taken(frame_with(both, 0)).frame(), plain);
}

TEST(Ipv6Plain, OthersStay) {
  const std::string authentication = "3a02000000000001000000020000000300000004";
  const std::string first_fragment = "3a00000111223344", later_fragment = "3a00000811223344";
  for (const RouteFrame& frame :
       {make_ipv6_frame({.next_header = 58}), frame_with(authentication, 51),
        frame_with(first_fragment, 44), frame_with(later_fragment, 44),
        frame_with("3a00010400000000", 135)}) {
    const Taken others(frame);
    EXPECT_FALSE(others.taken) << hex_of_bytes(frame);
    EXPECT_FALSE(others.has_changed(frame));
  }
}

}  // namespace
}  // namespace millrace::ipv6_plain_test
