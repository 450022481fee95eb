// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/fnv.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

/// FNV-1a as its authors print it, over bytes.
std::uint64_t oracle(const std::string& bytes) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 1099511628211ull;
  }
  return hash;
}

TEST(Fnv, AgreesWithTheAuthorsOverTheBytesOfTheWords) {
  // Of the authors' table of test vectors.
  ASSERT_EQ(oracle("foobar"), 0x85944171f73967e8ull);
  EXPECT_EQ(fnv1a({}), oracle(""));
  EXPECT_EQ(fnv1a({0x3837363534333231ull}), oracle("12345678"));
  EXPECT_EQ(fnv1a({0x3837363534333231ull, 0}), oracle(std::string("12345678\0\0\0\0\0\0\0\0", 16)));
}

TEST(Fnv, OrderAndZerosCount) {
  EXPECT_NE(fnv1a({1, 2}), fnv1a({2, 1}));
  EXPECT_NE(fnv1a({1}), fnv1a({1, 0}));
}

}  // namespace
}  // namespace millrace
