// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleBytes, ByteTestComparesANumberAtAPlace) {
  const auto test = last_test_of<ByteTest>("byte_test:2, !&, 0x1F, -3, relative, little;");
  EXPECT_EQ(test.format.bytes, 2);
  EXPECT_TRUE(test.negated && test.relative && test.format.little_endian);
  EXPECT_EQ(test.compare, Compare::kAnd);
  EXPECT_EQ(test.value.value, 31);
  EXPECT_EQ(test.offset.value, -3);
}

TEST(RuleBytes, AllComparisonsAreKnown) {
  const struct {
    const char* sign;
    Compare compare;
    bool negated;
  } rows[] = {{"<", Compare::kLess, false},  {">", Compare::kGreater, false},
              {"=", Compare::kEqual, false}, {"<=", Compare::kLessEqual, false},
              {"&", Compare::kAnd, false},   {">=", Compare::kGreaterEqual, false},
              {"^", Compare::kOr, false},    {"!=", Compare::kEqual, true},
              {"!", Compare::kEqual, true},  {"!<", Compare::kLess, true}};
  for (const auto& row : rows) {
    const auto test = last_test_of<ByteTest>(std::string("byte_test:1,") + row.sign + ",9,0;");
    EXPECT_EQ(test.compare, row.compare) << row.sign;
    EXPECT_EQ(test.negated, row.negated) << row.sign;
  }
}

TEST(RuleBytes, ByteJumpHasItsWays) {
  const auto jump = last_test_of<ByteJump>(
      "byte_jump:4,-2,relative,multiplier 3,align,from_beginning,post_offset -4,bitmask 0xf0;");
  EXPECT_EQ(jump.format.bytes, 4);
  EXPECT_EQ(jump.format.mask, 0xf0u);
  EXPECT_EQ(jump.offset.value, -2);
  EXPECT_EQ(jump.multiplier, 3u);
  EXPECT_EQ(jump.post_offset, -4);
  EXPECT_TRUE(jump.relative && jump.align && jump.from_beginning);
  EXPECT_TRUE(last_test_of<ByteJump>("byte_jump:1,0,from_end;").from_end);
}

TEST(RuleBytes, VariablesAreNumberedAsTheyAppear) {
  const Signature signature = signature_of(
      "byte_extract:2,0,length,multiplier 2,align 4; byte_extract:1,2,kind,relative;"
      "byte_math:bytes 1, offset length, oper <<, rvalue kind, result sum, relative, endian little;"
      "byte_test:1,>,sum,kind; byte_jump:1,length; isdataat:sum,relative;");
  EXPECT_EQ(signature.variables, 3);
  const auto first = test_of<ByteExtract>(signature, 0, 0);
  EXPECT_EQ(first.variable, 0);
  EXPECT_EQ(first.multiplier, 2u);
  EXPECT_EQ(first.align, 4);
  EXPECT_EQ(test_of<ByteExtract>(signature, 0, 1).variable, 1);
  const auto math = test_of<ByteMath>(signature, 0, 2);
  EXPECT_EQ(math.op, ByteMath::Operator::kShiftLeft);
  EXPECT_EQ(math.offset.variable, 0);
  EXPECT_EQ(math.value.variable, 1);
  EXPECT_EQ(math.variable, 2);
  EXPECT_TRUE(math.relative && math.format.little_endian);
  const auto test = test_of<ByteTest>(signature, 0, 3);
  EXPECT_EQ(test.value.variable, 2);
  EXPECT_EQ(test.offset.variable, 1);
  EXPECT_EQ(test_of<ByteJump>(signature, 0, 4).offset.variable, 0);
  EXPECT_EQ(test_of<IsDataAt>(signature, 0, 5).at.variable, 2);
}

TEST(RuleBytes, MathHasSixOperators) {
  const struct {
    const char* sign;
    ByteMath::Operator op;
  } rows[] = {{"+", ByteMath::Operator::kAdd},        {"-", ByteMath::Operator::kSubtract},
              {"*", ByteMath::Operator::kMultiply},   {"/", ByteMath::Operator::kDivide},
              {"<<", ByteMath::Operator::kShiftLeft}, {">>", ByteMath::Operator::kShiftRight}};
  for (const auto& row : rows) {
    const auto math = last_test_of<ByteMath>(std::string("byte_math:bytes 2,offset 1,oper ") +
                                             row.sign + ",rvalue 7,result r;");
    EXPECT_EQ(math.op, row.op) << row.sign;
    EXPECT_EQ(math.value.value, 7);
  }
}

TEST(RuleBytes, WhatIsNotUnderstoodIsRefused) {
  expect_refused({
      {"byte_test:1,>,5;", "bytes, operator, value, offset"},
      {"byte_test:1,?,5,0;", "compares nothing"},
      {"byte_test:1,>,5,0,foo;", "'foo' is not known"},
      {"byte_test:1,>,-5,0;", "not from 0"},
      {"byte_test:1,>,5,70000;", "not from -65535"},
      {"byte_test:1,>,x,0;", "sets 'x'"},
      {"byte_jump:1;", "bytes, offset"},
      {"byte_jump:1,0,from_end,from_beginning;", "contradicts"},
      {"byte_jump:1,0,multiplier 0;", "not from 1"},
      {"byte_jump:1,0,post_offset x;", "no number"},
      {"byte_extract:1,0;", "bytes, offset, name"},
      {"byte_extract:1,0,1a;", "no name of a variable"},
      {"byte_extract:1,0,a,align 3;", "align is 2 or 4"},
      {"byte_math:bytes 1,offset 0,oper %,rvalue 1,result a;", "no operator"},
      {"byte_math:bytes 1,offset 0,oper +,result a;", "'rvalue' is missing"},
      {"byte_math:bytes 1,bytes 1,offset 0,oper +,rvalue 1,result a;", "twice"},
      {"byte_math:bytes 1,offset 0,oper /,rvalue 0,result a;", "not from 1"},
      {"byte_math:bytes 5,offset 0,oper <<,rvalue 1,result a;", "at most 4 bytes"},
      {"byte_math:bytes 1,offset 0,oper +,rvalue 1,result a,x;", "'x' is not known"},
  });
}

}  // namespace
}  // namespace millrace
