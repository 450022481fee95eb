// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/checksum.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace millrace {
namespace {

using Bytes = std::vector<std::byte>;

/// RFC 1071 as it is written: 16-bit words, the highest byte first.
std::uint16_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = static_cast<std::uint64_t>(bytes[i]);
    sum += i % 2 == 0 ? value << 8 : value;
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

Bytes random_bytes(std::mt19937_64& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Checksum, FilledInItMakesAllWordsSumUpToOnes) {
  std::mt19937_64 random(1);
  for (std::size_t size = 20; size < 200; ++size) {
    Bytes frame = random_bytes(random, size);
    const std::size_t start = random() % 10;
    const std::size_t field = 2 * (random() % 3);
    const Bytes before = frame;
    // As the kernel leaves it: the field holds the sum of a pseudo header, which counts.
    complete_checksum(frame, start, field);
    std::span<const std::byte> covered = std::span(frame).subspan(start);
    const std::uint16_t pseudo = sum_of(std::span(before).subspan(start + field, 2));
    EXPECT_EQ((sum_of(covered) + pseudo) % 0xffff, 0) << size << ' ' << start << ' ' << field;
    for (std::size_t i = 0; i < size; ++i) {
      if (i == start + field || i == start + field + 1) continue;
      ASSERT_EQ(frame[i], before[i]) << "another byte was changed";
    }
  }
}

TEST(Checksum, IsNeverZeroWhichForUdpMeansNone) {
  Bytes frame(8);
  frame[0] = frame[1] = std::byte{0xff};
  complete_checksum(frame, 0, 6);
  EXPECT_EQ(frame[6], std::byte{0xff});
  EXPECT_EQ(frame[7], std::byte{0xff});
}

TEST(Checksum, OffsetsBeyondTheFrameChangeNothing) {
  Bytes frame(30);
  const Bytes before = frame;
  complete_checksum(frame, 20, 9);
  complete_checksum(frame, 65535, 65535);
  EXPECT_EQ(frame, before);
}

}  // namespace
}  // namespace millrace
