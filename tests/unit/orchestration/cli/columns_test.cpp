// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/columns.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Columns, AreAsWideAsTheirLongestField) {
  EXPECT_EQ(columns_text({{"a", "bbb", "c"}, {"aaaa", "b", ""}}), "a     bbb  c\naaaa  b\n");
  EXPECT_EQ(columns_text({}), "");
}

}  // namespace
}  // namespace millrace
