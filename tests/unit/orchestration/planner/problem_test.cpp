// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/problem.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Problem, SaysPlaceFoundAllowedAndNearest) {
  const SourceMark mark{"a.yaml", 3, 5};
  EXPECT_EQ(to_text({mark, "'x'", "y, z", "y"}),
            "a.yaml:3:5: found 'x'; allowed: y, z; did you mean 'y'?");
  EXPECT_EQ(to_text({mark, "'x'", "y, z", ""}), "a.yaml:3:5: found 'x'; allowed: y, z");
  EXPECT_EQ(to_text({mark, "'x'", "", ""}), "a.yaml:3:5: found 'x'");
  EXPECT_EQ(to_text({{"a.yaml", 0, 0}, "'x'", "", ""}), "a.yaml: found 'x'");
}

TEST(Problem, ShowsLongAndBinaryTextHarmlessly) {
  EXPECT_EQ(shown("plain"), "plain");
  EXPECT_EQ(shown(std::string("a\n\x1b[31m\x7f\0z", 9)), "a??[31m??");
  EXPECT_EQ(shown(std::string(48, 'x')), std::string(48, 'x'));
  EXPECT_EQ(shown(std::string(49, 'x')), std::string(48, 'x') + "...");
}

TEST(Problems, AreSortedByFileLineAndColumn) {
  Problems problems;
  problems.add({"b", 1, 1}, "four");
  problems.add({"a", 10, 1}, "three");
  problems.add({"a", 2, 9}, "two");
  problems.add({"a", 2, 8}, "one");
  try {
    problems.throw_if_any();
    FAIL() << "nothing thrown";
  } catch (const TopologyError& error) {
    EXPECT_STREQ(error.what(),
                 "a:2:8: found one\na:2:9: found two\na:10:1: found three\nb:1:1: found four");
    EXPECT_EQ(error.total(), 4u);
  }
}

TEST(Problems, BeyondTwentyAreOnlyCounted) {
  Problems problems;
  for (int line = 1; line <= 23; ++line) problems.add({"a", line, 1}, "x");
  try {
    problems.throw_if_any();
    FAIL() << "nothing thrown";
  } catch (const TopologyError& error) {
    EXPECT_EQ(error.problems().size(), 20u);
    EXPECT_EQ(error.problems().back().mark.line, 20);
    EXPECT_EQ(error.total(), 23u);
    EXPECT_TRUE(std::string(error.what()).ends_with("\nand 3 more"));
  }
}

TEST(Problems, ThatAreNoneThrowNothing) { EXPECT_NO_THROW(Problems().throw_if_any()); }

}  // namespace
}  // namespace millrace
