// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/byte_tests.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

/// Bytes whose length and numbers the tests below know.
const std::string kNumbersText(
    "\x00\x02\x05\xFF"
    "12 x",
    8);
TestText numbers_text(bool is_complete = true, bool ends_here = true) {
  return {.bytes = std::as_bytes(std::span(kNumbersText)),
          .is_complete = is_complete,
          .ends_here = ends_here};
}

Passed byte_test(const ByteTest& test, std::int64_t cursor = 0,
                 const TestText& text = numbers_text()) {
  return run_byte_test(test, text, cursor, {}).passed;
}

TEST(ByteTests, ComparesAsSuricataDoes) {
  // The two bytes at 1 are 0x0205 = 517.
  struct Case {
    Compare compare;
    std::int64_t value;
    bool passes;
  };
  constexpr Case kCases[] = {
      {Compare::kLess, 518, true},
      {Compare::kLess, 517, false},
      {Compare::kGreater, 516, true},
      {Compare::kGreater, 517, false},
      {Compare::kEqual, 517, true},
      {Compare::kEqual, 516, false},
      {Compare::kNotEqual, 516, true},
      {Compare::kNotEqual, 517, false},
      {Compare::kAnd, 0x0200, true},
      {Compare::kAnd, 0x0100, false},
      {Compare::kOr, 1, true},
      {Compare::kOr, 517, false},
      {Compare::kLessEqual, 517, true},
      {Compare::kLessEqual, 516, false},
      {Compare::kGreaterEqual, 517, true},
      {Compare::kGreaterEqual, 518, false},
  };
  for (const Case& one : kCases) {
    for (const bool negated : {false, true}) {
      const ByteTest test{.format = {.bytes = 2},
                          .compare = one.compare,
                          .negated = negated,
                          .value = {one.value},
                          .offset = {1}};
      EXPECT_EQ(byte_test(test), one.passes != negated ? Passed::kYes : Passed::kNo)
          << static_cast<int>(one.compare) << " " << one.value << " " << negated;
    }
  }
}

TEST(ByteTests, NumbersAreUnsigned) {
  const ByteTest test{.compare = Compare::kLess, .value = {-1}};
  EXPECT_EQ(byte_test(test), Passed::kYes);
}

TEST(ByteTests, ReadsWhereItIsTold) {
  ByteTest test{.value = {255}, .offset = {3}};
  EXPECT_EQ(byte_test(test, 7), Passed::kYes);
  test.relative = true;
  EXPECT_EQ(byte_test(test), Passed::kYes);
  test.offset = {-1};
  EXPECT_EQ(byte_test(test, 4), Passed::kYes);
  EXPECT_EQ(byte_test(test, 0), Passed::kNo);
  EXPECT_EQ(byte_test(test, 9), Passed::kNo);
  EXPECT_EQ(byte_test(test, 9, numbers_text(false)), Passed::kLater);
  EXPECT_EQ(byte_test({.value = {12}, .offset = {.variable = 0}}, 0), Passed::kNo);
}

TEST(ByteTests, MasksWhatItReads) {
  EXPECT_EQ(byte_test({.format = {.bytes = 2, .mask = 0xFF00}, .value = {2}, .offset = {1}}),
            Passed::kYes);
}

TEST(ByteTests, ReadsText) {
  ByteTest test{.format = {.bytes = 4, .is_text = true}, .value = {12}, .offset = {4}};
  EXPECT_EQ(byte_test(test), Passed::kYes);
  test.format.base = 16;
  EXPECT_EQ(byte_test(test), Passed::kNo);
  test.value = {0x12};
  EXPECT_EQ(byte_test(test), Passed::kYes);
  test.offset = {7};
  test.format.bytes = 1;
  EXPECT_EQ(byte_test(test), Passed::kNo);  // no digit
}

/// Where a jump leads; -1: nowhere, -2: not yet.
std::int64_t jump_to(const ByteJump& jump, std::int64_t cursor = 0,
                     const TestText& text = numbers_text()) {
  const TestEnd end = run_byte_jump(jump, text, cursor, {});
  if (end.passed == Passed::kYes) return end.cursor;
  return end.passed == Passed::kNo ? -1 : -2;
}

TEST(ByteTests, JumpsFromBehindTheNumber) {
  EXPECT_EQ(jump_to({.offset = {1}}), 4);
  EXPECT_EQ(jump_to({.offset = {1}, .relative = true}, 1), -1);  // 3 + 5 = 8
  EXPECT_EQ(jump_to({.offset = {1}, .multiplier = 2}), 6);
  EXPECT_EQ(jump_to({.offset = {1}, .align = true}), 6);
  EXPECT_EQ(jump_to({.offset = {1}, .post_offset = 3}), 7);
  EXPECT_EQ(jump_to({.offset = {1}, .post_offset = 4}), -1);
  EXPECT_EQ(jump_to({.offset = {1}, .post_offset = 4}, 0, numbers_text(false)), -2);
  EXPECT_EQ(jump_to({.offset = {1}, .post_offset = -9}), 0);
  EXPECT_EQ(jump_to({.format = {.mask = 0xF0}, .offset = {3}, .from_beginning = true}), -1);
  EXPECT_EQ(jump_to({.format = {.mask = 0xC0}, .offset = {3}, .from_beginning = true}), 3);
}

TEST(ByteTests, JumpsFromBothEnds) {
  EXPECT_EQ(jump_to({.offset = {2}, .from_beginning = true}), 5);
  EXPECT_EQ(jump_to({.offset = {2}, .relative = true, .from_beginning = true}), 5);
  EXPECT_EQ(jump_to({.offset = {0}, .from_end = true, .post_offset = -3}), 5);
  EXPECT_EQ(jump_to({.offset = {0}, .from_end = true}), -1);
  EXPECT_EQ(
      jump_to({.offset = {0}, .from_end = true, .post_offset = -3}, 0, numbers_text(false, false)),
      -2);
  // No byte is read: a jump by a constant.
  EXPECT_EQ(jump_to({.format = {.bytes = 0}, .from_end = true, .post_offset = -1}), 7);
}

TEST(ByteTests, JumpsOfTextBeginBehindItsDigits) {
  const std::string text = "1x3456";
  const TestText whole{.bytes = std::as_bytes(std::span(text))};
  EXPECT_EQ(jump_to({.format = {.bytes = 4, .is_text = true}}, 0, whole), 2);
}

TEST(ByteTests, OpenTextWaitsForTheEndOfItsDigits) {
  const ByteTest test{
      .format = {.bytes = 0, .is_text = true}, .compare = Compare::kGreater, .value = {99}};
  const auto run = [&](const std::string& bytes, bool is_complete, std::int64_t cursor = 0) {
    const TestText text{.bytes = std::as_bytes(std::span(bytes)), .is_complete = is_complete};
    ByteTest at = test;
    at.relative = true;
    return run_byte_test(at, text, cursor, {}).passed;
  };
  EXPECT_EQ(run("100", true), Passed::kYes);
  EXPECT_EQ(run("99", true), Passed::kNo);
  EXPECT_EQ(run("99", false), Passed::kLater);
  EXPECT_EQ(run("99;", false), Passed::kNo);
  EXPECT_EQ(run("100;", false), Passed::kYes);
  EXPECT_EQ(run("a100", true, 1), Passed::kYes);
  EXPECT_EQ(run("a", true, 1), Passed::kNo);
  EXPECT_EQ(run("a", false, 1), Passed::kLater);
  EXPECT_EQ(run("", true, 3), Passed::kNo);
  EXPECT_EQ(run(std::string(30, '1'), false), Passed::kNo);
}

TEST(ByteTests, HugeJumpsLeadNowhere) {
  const std::string text(16, '\xFF');
  const TestText whole{.bytes = std::as_bytes(std::span(text))};
  EXPECT_EQ(jump_to({.format = {.bytes = 8}, .multiplier = UINT32_MAX}, 0, whole), 0);
  EXPECT_EQ(jump_to({.format = {.bytes = 7}}, 0, whole), -1);
  EXPECT_EQ(jump_to({.format = {.bytes = 8}, .relative = true}, 1, whole), 8);  // by -1
}

TEST(ByteTests, ExtractsIntoAVariable) {
  RuleVariables variables;
  const ByteExtract extract{
      .format = {.bytes = 2}, .offset = {1}, .variable = 3, .multiplier = 3, .align = 4};
  const TestEnd end = run_byte_extract(extract, numbers_text(), 0, variables);
  EXPECT_EQ(end.passed, Passed::kYes);
  EXPECT_EQ(end.cursor, 3);
  EXPECT_EQ(variables.values[3], 1552);  // 517 * 3 = 1551
  EXPECT_EQ(value_of({.value = 9, .variable = 3}, variables), 1552);
  EXPECT_EQ(value_of({.value = 9}, variables), 9);
  EXPECT_EQ(run_byte_extract(extract, numbers_text(), 7, variables).cursor, 3);
  EXPECT_EQ(run_byte_extract({.offset = {8}}, numbers_text(), 0, variables).passed, Passed::kNo);
}

TEST(ByteTests, Calculates) {
  using Operator = ByteMath::Operator;
  struct Case {
    Operator op;
    std::int64_t value, result;
  };
  constexpr Case kCases[] = {
      {Operator::kAdd, 3, 520},        {Operator::kSubtract, 518, -1},
      {Operator::kMultiply, 2, 1034},  {Operator::kDivide, 5, 103},
      {Operator::kShiftLeft, 1, 1034}, {Operator::kShiftLeft, 64, 0},
      {Operator::kShiftRight, 1, 258}, {Operator::kShiftRight, 64, 0},
  };
  for (const Case& one : kCases) {
    RuleVariables variables;
    const ByteMath math{
        .format = {.bytes = 2}, .offset = {1}, .value = {one.value}, .op = one.op, .variable = 1};
    const TestEnd end = run_byte_math(math, numbers_text(), 0, variables);
    EXPECT_EQ(end.passed, Passed::kYes);
    EXPECT_EQ(end.cursor, 3);
    EXPECT_EQ(variables.values[1], one.result) << static_cast<int>(one.op);
  }
  RuleVariables variables;
  EXPECT_EQ(run_byte_math({.op = Operator::kDivide}, numbers_text(), 0, variables).passed,
            Passed::kNo);
  const ByteMath masking{.format = {.mask = 0xF0}, .offset = {2}, .value = {0x30}};
  EXPECT_EQ(run_byte_math(masking, numbers_text(), 0, variables).passed, Passed::kYes);
  EXPECT_EQ(variables.values[0], 3);  // 0x35
}

TEST(ByteTests, AsksWhetherThereIsData) {
  const auto data_at = [](const IsDataAt& test, std::int64_t cursor, const TestText& text) {
    RuleVariables variables;
    variables.values[0] = 100'000'000;
    return run_is_data_at(test, text, cursor, variables).passed;
  };
  const TestText whole = numbers_text();
  EXPECT_EQ(data_at({.at = {7}}, 0, whole), Passed::kYes);
  EXPECT_EQ(data_at({.at = {8}}, 0, whole), Passed::kNo);
  EXPECT_EQ(data_at({.at = {8}}, 0, numbers_text(false)), Passed::kLater);
  EXPECT_EQ(data_at({.at = {1}, .relative = true}, 7, whole), Passed::kYes);
  EXPECT_EQ(data_at({.at = {1}, .relative = true}, 8, whole), Passed::kNo);
  EXPECT_EQ(data_at({.at = {1}, .relative = true, .negated = true}, 8, whole), Passed::kYes);
  EXPECT_EQ(data_at({.at = {1}, .relative = true, .negated = true}, 7, whole), Passed::kNo);
  EXPECT_EQ(data_at({.at = {8}, .negated = true}, 0, numbers_text(false)), Passed::kYes);
  EXPECT_EQ(data_at({.at = {8}, .negated = true}, 0, numbers_text(false, false)), Passed::kLater);
  EXPECT_EQ(data_at({.at = {.variable = 0}}, 0, numbers_text(false)), Passed::kNo);
  EXPECT_EQ(data_at({.at = {.variable = 0}, .negated = true}, 0, whole), Passed::kYes);
}

TEST(ByteTests, MeasuresTheBuffer) {
  const auto size = [](const BufferSize& test, const TestText& text) {
    return run_buffer_size(test, text, 0).passed;
  };
  EXPECT_EQ(size({.low = 8, .high = 8}, numbers_text()), Passed::kYes);
  EXPECT_EQ(size({.low = 9}, numbers_text()), Passed::kNo);
  EXPECT_EQ(size({.low = 9, .negated = true}, numbers_text()), Passed::kYes);
  EXPECT_EQ(size({.low = 8, .high = 8}, numbers_text(false)), Passed::kLater);
  EXPECT_EQ(size({.low = 8}, numbers_text(false)), Passed::kYes);
  EXPECT_EQ(size({.high = 7}, numbers_text(false)), Passed::kNo);
  TestText later = numbers_text();
  later.begin = 10;
  EXPECT_EQ(size({.low = 18, .high = 18}, later), Passed::kYes);
}

}  // namespace
}  // namespace millrace
