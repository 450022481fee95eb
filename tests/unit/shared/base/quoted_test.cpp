// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/quoted.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Quoted, ShowsWhatCanBePrintedOfTheFirstBytes) {
  EXPECT_EQ(quoted_word("any"), "'any'");
  EXPECT_EQ(quoted_word(""), "''");
  EXPECT_EQ(quoted_word(std::string("a\0b\xff\n", 5)), "'a?b?\?'");
  EXPECT_EQ(quoted_word(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(quoted_word(std::string(2'000'000, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace millrace
