// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/datasets.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

std::span<const std::byte> dataset_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(Datasets, FindTheWholeValue) {
  const DatasetMatch set{.values = {"", "abc", "abd", std::string("z\0", 2)}};
  EXPECT_TRUE(is_in_dataset(set, dataset_bytes("abc")));
  EXPECT_TRUE(is_in_dataset(set, dataset_bytes(std::string("z\0", 2))));
  EXPECT_TRUE(is_in_dataset(set, {}));
  EXPECT_FALSE(is_in_dataset(set, dataset_bytes("ab")));
  EXPECT_FALSE(is_in_dataset(set, dataset_bytes("z")));
  EXPECT_FALSE(is_in_dataset({}, dataset_bytes("abc")));
}

// FIPS 180-2, appendix B.1: the digest of "abc".
TEST(Datasets, FindTheDigestOfTheValue) {
  const std::string digest(
      "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23"
      "\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00\x15\xad",
      32);
  const DatasetMatch set{.is_sha256 = true, .values = {digest}};
  EXPECT_TRUE(is_in_dataset(set, dataset_bytes("abc")));
  EXPECT_FALSE(is_in_dataset(set, dataset_bytes("abd")));
  EXPECT_FALSE(is_in_dataset(set, dataset_bytes(digest)));
}

}  // namespace
}  // namespace millrace
