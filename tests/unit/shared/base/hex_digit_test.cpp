// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/hex_digit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <string_view>

namespace millrace {
namespace {

TEST(HexDigit, TakesBothCasesAndNothingElse) {
  constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";
  for (int byte = CHAR_MIN; byte <= CHAR_MAX; ++byte) {
    const auto letter = static_cast<char>(byte);
    const std::size_t at = std::min(kLower.find(letter), kUpper.find(letter));
    const auto digit = hex_digit(letter);
    EXPECT_EQ(digit.value_or(kLower.size()), std::min(at, kLower.size())) << byte;
  }
}

}  // namespace
}  // namespace millrace
