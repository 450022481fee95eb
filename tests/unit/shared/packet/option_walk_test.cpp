// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/packet/option_walk.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/unit/shared/packet/hex_bytes.hpp"

namespace millrace::option_walk_test {
namespace {

/// "at+bytes" of each option behind a header of 20 bytes, "at!" of a malformed one.
std::string walked(const std::string& options_hex) {
  const std::vector<std::byte> header = bytes_of_hex(std::string(40, '0') + options_hex);
  std::string steps;
  OptionWalk walk(header);
  while (walk.next()) {
    steps += std::to_string(walk.at());
    steps += walk.malformed() ? "! " : "+" + std::to_string(walk.bytes()) + " ";
  }
  EXPECT_FALSE(walk.next());
  return steps;
}

TEST(OptionWalkTest, StepsOverNoOperations) {
  EXPECT_EQ(walked(""), "");
  EXPECT_EQ(walked("01010101"), "");
  EXPECT_EQ(walked("94040000"), "20+4 ");
  EXPECT_EQ(walked("0194040000010703040101"), "21+4 26+3 ");
}

TEST(OptionWalkTest, EndsAtTheEndOfOptions) {
  EXPECT_EQ(walked("0001010194040000"), "");
  EXPECT_EQ(walked("070304000703"), "20+3 ");
}

TEST(OptionWalkTest, EndsAtALengthThatLies) {
  EXPECT_EQ(walked("940400000700"), "20+4 24! ");
  EXPECT_EQ(walked("0701070304"), "20! ");
  EXPECT_EQ(walked("07050000"), "20! ");
  EXPECT_EQ(walked("01010107"), "23! ");
  EXPECT_EQ(walked("07ff"), "20! ");
}

TEST(OptionWalkTest, ThereIsNothingInWhatIsShorterThanAHeader) {
  for (std::size_t size = 0; size < 20; ++size) {
    const std::vector<std::byte> cut(size, std::byte{7});
    EXPECT_FALSE(OptionWalk(cut).next()) << size;
  }
}

}  // namespace
}  // namespace millrace::option_walk_test
