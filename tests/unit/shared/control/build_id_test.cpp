// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/build_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace millrace {
namespace {

/// The oracle reads the file, not the memory: the note's header (4 bytes of name, 20 of SHA-1, type
/// NT_GNU_BUILD_ID = 3, name "GNU"), found by search.
std::string build_id_in_file() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string header("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const std::size_t at = bytes.find(header);
  if (at == std::string::npos) return "";
  std::string hex;
  for (const char byte : bytes.substr(at + header.size(), 20)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    hex += digits;
  }
  return hex;
}

TEST(BuildId, IsTheNoteOfTheExecutable) { EXPECT_EQ(build_id(), build_id_in_file()); }

TEST(BuildId, IsKnownByItsFirstDigits) {
  EXPECT_EQ(build_name(build_number("0123456789abcdef0011")), "0123456789abcdef");
  EXPECT_EQ(build_name(build_number("00000000000000ff")), "00000000000000ff");
  for (const char* const none : {"", "c0ffee", "0123456789abcdeg", "0000000000000000"}) {
    EXPECT_EQ(build_name(build_number(none)), "none") << none;
  }
}

}  // namespace
}  // namespace millrace
