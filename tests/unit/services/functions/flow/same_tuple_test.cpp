// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/same_tuple.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace millrace {
namespace {

/// Each byte of a tuple differs in turn.
TEST(SameTuple, SaysWhatEqualsSays) {
  const FlowTuple tuple{.source_port = 1, .destination_port = 2, .protocol = 6, .version = 4};
  EXPECT_TRUE(is_same_tuple(tuple, tuple));
  for (std::size_t at = 0; at < sizeof(FlowTuple); ++at) {
    std::array<std::byte, sizeof(FlowTuple)> bytes{};
    std::memcpy(bytes.data(), &tuple, sizeof tuple);
    bytes[at] ^= std::byte{0x80};
    FlowTuple other;
    std::memcpy(&other, bytes.data(), sizeof other);
    EXPECT_FALSE(is_same_tuple(tuple, other)) << at;
    EXPECT_FALSE(tuple == other) << at;
  }
}

TEST(SameTuple, SaysOfAddressesWhatEqualsSays) {
  const Ipv6Bytes address{10, 1, 2, 3};
  EXPECT_TRUE(is_same_address(address, address));
  for (std::size_t at = 0; at < address.size(); ++at) {
    Ipv6Bytes other = address;
    other[at] ^= 0x80;
    EXPECT_FALSE(is_same_address(address, other)) << at;
  }
}

}  // namespace
}  // namespace millrace
