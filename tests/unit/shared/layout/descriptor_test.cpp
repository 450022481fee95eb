// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/descriptor.hpp"

#include <gtest/gtest.h>

#include <random>

namespace millrace {
namespace {

TEST(Descriptor, KeepsTheExtremesOfEveryField) {
  for (const std::uint16_t slot : {0, 1, 0x7fff, 0xffff}) {
    for (const int stage : {0, 1, 31, 255}) {
      for (const std::uint64_t generation : {std::uint64_t{0}, std::uint64_t{1}, kGenerationMask}) {
        const Descriptor descriptor{slot, static_cast<std::uint8_t>(stage), generation};
        EXPECT_EQ(Descriptor::from_word(descriptor.word()), descriptor);
      }
    }
  }
}

TEST(Descriptor, EveryBitOfTheWordMeansSomething) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t word = random();
    EXPECT_EQ(Descriptor::from_word(word).word(), word);
  }
}

TEST(Descriptor, AGenerationBeyondFortyBitsDoesNotReachTheStage) {
  const Descriptor descriptor{1, 2, kGenerationMask + 6};
  EXPECT_EQ(Descriptor::from_word(descriptor.word()), (Descriptor{1, 2, 5}));
}

}  // namespace
}  // namespace millrace
