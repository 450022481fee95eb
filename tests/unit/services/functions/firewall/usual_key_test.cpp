// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/usual_key.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

TEST(UsualKey, IsTheKeyOfThePacket) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const bool is_tcp = round % 2 == 0;
    std::vector<std::byte> frame(14 + 20 + 20 + random() % 20);
    for (std::byte& byte : frame) byte = static_cast<std::byte>(random());
    wire_bytes::put16(frame, 12, 0x0800);
    wire_bytes::put8(frame, 14, 0x45);
    wire_bytes::put16(frame, 16, static_cast<std::uint16_t>(frame.size() - 14));
    wire_bytes::put16(frame, 20, 0x4000);
    wire_bytes::put8(frame, 23, is_tcp ? 6 : 17);
    if (is_tcp) wire_bytes::put8(frame, 46, 0x50);
    if (!is_tcp) wire_bytes::put16(frame, 38, static_cast<std::uint16_t>(frame.size() - 34));
    FlowTuple tuple;
    ASSERT_TRUE(usual_packet::find_tuple(frame, tuple));
    AclKey wanted, key;
    std::uint32_t word = 0;
    ASSERT_TRUE(acl_key_of(frame, parse_headers(frame), wanted, word));
    set_usual_key(frame.data(), key);
    ASSERT_EQ(std::memcmp(&key, &wanted, sizeof key), 0) << round;
  }
}

}  // namespace
}  // namespace millrace
