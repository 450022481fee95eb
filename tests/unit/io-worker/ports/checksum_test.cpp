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

/// Ethernet, IPv4 or IPv6, TCP or UDP with a payload, the checksum right.
Bytes packet(std::mt19937_64& random, bool v6, bool tcp, std::size_t payload) {
  const std::size_t network = 14, transport = network + (v6 ? 40 : 20);
  const std::size_t length = (tcp ? 20 : 8) + payload;
  Bytes frame = random_bytes(random, transport + length + (payload % 3));  // some with padding
  const auto put = [&](std::size_t at, std::size_t value) {
    frame[at] = static_cast<std::byte>(value >> 8);
    frame[at + 1] = static_cast<std::byte>(value);
  };
  put(12, v6 ? 0x86dd : 0x0800);
  frame[network] = static_cast<std::byte>(v6 ? 0x60 : 0x45);
  put(network + (v6 ? 4 : 2), v6 ? length : 20 + length);
  if (!v6) put(network + 6, 0);
  frame[network + (v6 ? 6 : 9)] = static_cast<std::byte>(tcp ? 6 : 17);
  if (tcp) frame[transport + 12] = std::byte{0x50};
  const std::size_t field = transport + (tcp ? 16 : 6);
  put(field, 0);
  std::uint64_t sum = sum_of(std::span(frame).subspan(transport, length));
  sum += sum_of(std::span(frame).subspan(network + (v6 ? 8 : 12), v6 ? 32 : 8));
  sum += (tcp ? 6 : 17) + length;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  put(field, sum == 0xffff ? 0xffff : ~sum & 0xffff);
  return frame;
}

TEST(Checksum, ABareOneIsRecognisedAndOthersAreLeftAlone) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const bool v6 = i % 2 == 0, tcp = i % 3 == 0;
    const Bytes right = packet(random, v6, tcp, random() % 100);
    Bytes same = right;
    complete_bare_checksum(same);
    ASSERT_EQ(same, right) << "it was right";
    const std::size_t transport = v6 ? 54 : 34, field = transport + (tcp ? 16 : 6);
    const std::size_t length =
        v6 ? std::to_integer<std::size_t>(right[19]) : std::to_integer<std::size_t>(right[17]) - 20;
    std::uint64_t bare = sum_of(std::span(right).subspan(v6 ? 22 : 26, v6 ? 32 : 8));
    bare += (tcp ? 6 : 17) + length;
    while (bare >> 16 != 0) bare = (bare & 0xffff) + (bare >> 16);
    Bytes left_out = right;
    left_out[field] = static_cast<std::byte>(bare >> 8);
    left_out[field + 1] = static_cast<std::byte>(bare);
    complete_bare_checksum(left_out);
    ASSERT_EQ(left_out, right) << v6 << tcp;
    Bytes wrong = right;
    wrong[field] ^= std::byte{1};
    const Bytes before = wrong;
    complete_bare_checksum(wrong);
    if (sum_of(std::span(before).subspan(field, 2)) != bare) {
      ASSERT_EQ(wrong, before) << "a wrong one was made right";
    }
  }
}

TEST(Checksum, NoBytesAreTooFew) {
  std::mt19937_64 random(3);
  const Bytes whole = packet(random, false, true, 40);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    const Bytes before = cut;
    complete_bare_checksum(cut);
    EXPECT_EQ(cut, before);
  }
}

}  // namespace
}  // namespace millrace
