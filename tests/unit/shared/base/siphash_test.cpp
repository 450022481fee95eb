// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace millrace {
namespace {

/// PYTHONHASHSEED=0 python3.11 -c 'print(hash(bytes(range(N))) & (2**64-1))': the key is 0.
TEST(Siphash, SaysWhatPythonSays) {
  const struct {
    std::size_t bytes;
    std::uint64_t hash;
  } cases[] = {{1, 0x68a914128e01e473}, {7, 0x2f098ab0c751325a},  {8, 0xead411e67ebe2eea},
               {9, 0x75927f9d95124362}, {15, 0xf30eb725bb91c9ea}, {16, 0x8972188433a5c5b7},
               {40, 0x95bc321ab41d8206}};
  for (const auto& one : cases) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < one.bytes; ++i) bytes.push_back(static_cast<std::byte>(i));
    EXPECT_EQ(siphash13(bytes, {0, 0}), one.hash) << one.bytes;
    EXPECT_NE(siphash13(bytes, {0, 1}), one.hash);
    EXPECT_NE(siphash13(bytes, {1, 0}), one.hash);
  }
}

TEST(Siphash, SaysOfWordsWhatItSaysOfTheirBytes) {
  const std::array<std::uint64_t, 5> words = {0x0706050403020100, 0x0f0e0d0c0b0a0908,
                                              0x1716151413121110, 0x1f1e1d1c1b1a1918,
                                              0x2726252423222120};
  EXPECT_EQ(siphash13(words, {0, 0}), 0x95bc321ab41d8206);
  EXPECT_EQ(siphash13(std::array{words[0], words[1]}, {0, 0}), 0x8972188433a5c5b7);
}

}  // namespace
}  // namespace millrace
