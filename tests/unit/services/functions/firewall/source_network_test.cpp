// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/source_network.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(SourceNetwork, IsTheFirstBitsOfAnAddress) {
  Ipv6Bytes ones;
  ones.fill(0xff);
  for (const std::uint32_t version : {4u, 6u}) {
    const unsigned whole = version == 4 ? 32 : 128;
    for (std::uint8_t bits = 1; bits <= whole; ++bits) {
      const SourceNetwork network{{bits, bits}};
      const Ipv6Bytes kept = network.of(ones, version);
      for (unsigned bit = 0; bit < 128; ++bit) {
        ASSERT_EQ((kept[bit / 8] >> (7 - bit % 8) & 1) != 0, bit < bits) << int{bits};
      }
    }
  }
  EXPECT_EQ(SourceNetwork{}.of(ones, 4), ones);
}

}  // namespace
}  // namespace millrace
