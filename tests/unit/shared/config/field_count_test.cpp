// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/field_count.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace millrace {
namespace {

struct NoField {};
struct Inner {
  int number = 0;
  std::string text;
};
struct Outer {
  std::optional<Inner> maybe;
  Inner one;
  std::vector<Inner> many;
  bool flag = false;
};

TEST(FieldCount, CountsMembersAndNotWhatIsInThem) {
  EXPECT_EQ(field_count<NoField>(), 0U);
  EXPECT_EQ(field_count<Inner>(), 2U);
  EXPECT_EQ(field_count<Outer>(), 4U);
}

}  // namespace
}  // namespace millrace
