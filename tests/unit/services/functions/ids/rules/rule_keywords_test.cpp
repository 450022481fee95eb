// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleKeywords, UnknownAndKnownButUnsupportedOnesAreRefused) {
  EXPECT_EQ(refusal_of("nonsense:1;"), "nonsense: it is not known");
  EXPECT_EQ(refusal_of("nonsense;"), "nonsense: it is not known");
  EXPECT_EQ(refusal_of("flowint:a,+,1;"), "flowint: numbers of flows are not kept");
}

TEST(RuleKeywords, ValuesStandWhereTheyAreAskedFor) {
  EXPECT_EQ(refusal_of("noalert:1;"), "noalert: it takes no value");
  EXPECT_EQ(refusal_of("content;"), "content: it has no value");
  EXPECT_EQ(refusal_of("content:;"), "content: it has no value");
  EXPECT_EQ(refusal_of("content:\"a\"; fast_pattern;"), "");
}

TEST(RuleKeywords, ReasonsNameTheKeyword) {
  EXPECT_EQ(refusal_of("ttl:a;"), "ttl: 'a' is no number");
}

}  // namespace
}  // namespace millrace
