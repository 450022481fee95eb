// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/ipv4_wire.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::ipv4_wire_test {
namespace {

TEST(Ipv4Wire, NumbersAreInNetworkOrderAtAnyOffset) {
  const std::vector<std::byte> bytes = bytes_of_hex("000102030405060708");
  EXPECT_EQ(ipv4_wire::u8(bytes, 3), 0x03);
  EXPECT_EQ(ipv4_wire::u16(bytes, 3), 0x0304);
  EXPECT_EQ(ipv4_wire::u32(bytes, 5), 0x05060708U);
  EXPECT_EQ(ipv4_wire::mac(bytes, 3), (MacAddress{3, 4, 5, 6, 7, 8}));
}

TEST(Ipv4Wire, WritingTouchesTheFieldAlone) {
  std::vector<std::byte> bytes(17);
  ipv4_wire::put8(bytes, 0, 0xab);
  ipv4_wire::put16(bytes, 2, 0x0102);
  ipv4_wire::put32(bytes, 5, 0x03040506);
  ipv4_wire::put_mac(bytes, 10, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(hex_of_bytes(bytes), "ab00010200030405060001020304050600");
}

TEST(Ipv4Wire, AHeaderHasItsVersionAndIsWhole) {
  for (std::size_t size = 0; size <= 64; ++size) {
    for (unsigned first = 0; first < 256; ++first) {
      std::vector<std::byte> packet(size);
      if (size > 0) packet[0] = static_cast<std::byte>(first);
      const std::size_t bytes = first % 16 * 4;
      const bool whole = first / 16 == 4 && bytes >= 20 && bytes <= size;
      EXPECT_EQ(ipv4_wire::header_bytes(packet), whole ? bytes : 0) << size << " " << first;
    }
  }
}

}  // namespace
}  // namespace millrace::ipv4_wire_test
