// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/crc32c_change.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace millrace::crc32c_change_test {
namespace {

/// CRC32c bit by bit (RFC 9260 appendix A).
std::uint32_t slow_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32cChange, IsWhatTheSumOfTheChangedBytesDiffersBy) {
  std::mt19937 random(3);
  for (std::size_t size = 4; size < 200; ++size) {
    std::vector<std::byte> bytes(size), difference(4);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    for (std::byte& byte : difference) byte = static_cast<std::byte>(random());
    const std::size_t at = random() % (size - 3);
    const std::uint32_t before = slow_crc32c(bytes);
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] ^= difference[i];
    EXPECT_EQ(before ^ crc32c_change(difference, size - at - 4), slow_crc32c(bytes)) << size;
  }
}

TEST(Crc32cChange, OfNothingIsNothing) {
  EXPECT_EQ(crc32c_change(std::vector<std::byte>(4), 77), 0u);
}

}  // namespace
}  // namespace millrace::crc32c_change_test
