// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/byte_numbers.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <random>
#include <string>

namespace millrace {
namespace {

std::optional<ReadNumber> read_text(const std::string& text, NumberFormat format) {
  format.bytes = static_cast<std::uint8_t>(text.size());
  return read_number(std::as_bytes(std::span(text)), format);
}

TEST(ByteNumbers, ReadsBytesInBothOrders) {
  const std::string bytes("\x01\x02\xFF", 3);
  EXPECT_EQ(read_text(bytes, {})->value, 0x0102FFu);
  EXPECT_EQ(read_text(bytes, {.little_endian = true})->value, 0xFF0201u);
  EXPECT_EQ(read_text(bytes, {})->length, 3);
  EXPECT_EQ(read_text(std::string(8, '\xFF'), {})->value, UINT64_MAX);
  EXPECT_EQ(read_text("", {})->value, 0u);
  EXPECT_FALSE(read_text(std::string(9, '\x01'), {}));
  EXPECT_FALSE(read_number({}, {.bytes = 4}));
}

TEST(ByteNumbers, ReadsTextAsTheLibraryDoes) {
  std::mt19937 random(2);
  std::size_t numbers = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text(random() % 24, '\0');
    for (char& byte : text) byte = "0123456789789aFxX-+ \tg"[random() % 22];
    if (random() % 3 == 0 && text.size() > 2) text.replace(0, 2, "0x");
    if (random() % 5 == 0) std::fill(text.begin(), text.end(), '7');
    const int base = std::array{0, 8, 10, 16}[random() % 4];
    errno = 0;
    char* end = nullptr;
    const unsigned long long expected = std::strtoull(text.c_str(), &end, base);
    const bool is_number = errno == 0 && end != text.c_str();
    const auto read = read_text(text, {.is_text = true, .base = static_cast<std::uint8_t>(base)});
    ASSERT_EQ(read.has_value(), is_number) << text << " " << base;
    if (!is_number) continue;
    ++numbers;
    ASSERT_EQ(read->value, expected) << text << " " << base;
    ASSERT_EQ(read->length, end - text.c_str()) << text << " " << base;
  }
  EXPECT_GT(numbers, 10'000u);
}

TEST(ByteNumbers, OpenTextEndsWithItsDigits) {
  const auto read = [](const std::string& text) {
    return read_number(std::as_bytes(std::span(text)), {.bytes = 0, .is_text = true});
  };
  ASSERT_TRUE(read("  41;7"));
  EXPECT_EQ(read("  41;7")->value, 41u);
  EXPECT_EQ(read("  41;7")->length, 4);
  EXPECT_FALSE(read(std::string(24, '9')));
  EXPECT_FALSE(read(std::string(25, '0')));
}

TEST(ByteNumbers, MasksShiftDown) {
  EXPECT_EQ(masked(0xABCD, 0x0FF0), 0xBCu);
  EXPECT_EQ(masked(0xABCD, 0), 0xABCDu);
  EXPECT_EQ(masked(0xFFFF'FFFF'FFFF'FFFF, 0x8000'0000), 1u);
}

}  // namespace
}  // namespace millrace
