// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/ascii.hpp"

#include <gtest/gtest.h>

#include <cctype>

namespace millrace {
namespace {

TEST(Ascii, LettersAreThoseOfTheCLocale) {
  for (int i = 0; i < 256; ++i) {
    const char letter = static_cast<char>(i);
    EXPECT_EQ(ascii_lower(letter), static_cast<char>(std::tolower(i)));
    EXPECT_EQ(ascii_lower(static_cast<unsigned char>(i)), std::tolower(i));
    EXPECT_EQ(in_lower_case({&letter, 1}), std::string(1, ascii_lower(letter)));
    EXPECT_EQ(is_ascii_alnum(letter), std::isalnum(i) != 0);
  }
}

TEST(Ascii, ABeginIsFoundInEitherCase) {
  EXPECT_TRUE(starts_with_nocase("HtTp://", "http"));
  EXPECT_TRUE(starts_with_nocase("a", ""));
  EXPECT_FALSE(starts_with_nocase("htt", "http"));
  EXPECT_FALSE(starts_with_nocase("hxtp", "http"));
}

}  // namespace
}  // namespace millrace
