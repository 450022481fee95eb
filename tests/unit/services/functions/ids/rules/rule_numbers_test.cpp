// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rules/rule_numbers.hpp"

#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleNumbers, TextHasABase) {
  const struct {
    const char* words;
    int base;
  } rows[] = {{"string,hex", 16}, {"string,oct", 8}, {"dec,string", 10}, {"string hex", 16}};
  for (const auto& row : rows) {
    const auto test = last_test_of<ByteTest>(std::string("byte_test:8,=,1,0,") + row.words + ";");
    EXPECT_TRUE(test.format.is_text);
    EXPECT_EQ(test.format.base, row.base) << row.words;
  }
  EXPECT_EQ(last_test_of<ByteTest>("byte_test:8,=,1,0,string;", kOfSnort3).format.base, 10);
  EXPECT_EQ(last_test_of<ByteTest>("byte_test:8,=,1,0,string;").format.base, 0);
}

TEST(RuleNumbers, BytesFit) {
  EXPECT_EQ(last_test_of<ByteTest>("byte_test:8,=,1,0;").format.bytes, 8);
  EXPECT_EQ(last_test_of<ByteTest>("byte_test:23,=,1,0,string,oct;").format.bytes, 23);
  expect_refused({
      {"byte_test:0,=,1,0;", "not from 1 to 8"},
      {"byte_test:9,=,1,0;", "not from 1 to 8"},
      {"byte_test:24,=,1,0,string,oct;", "not from 0 to 23"},
      {"byte_test:21,=,1,0,string,dec;", "not from 0 to 20"},
      {"byte_test:15,=,1,0,string,hex;", "not from 0 to 14"},
      {"byte_test:24,=,1,0,string;", "not from 0 to 23"},
      {"byte_extract:0,0,a,string,dec;", "not from 1 to 20"},
      {"byte_jump:9,0;", "not from 0 to 8"},
      {"byte_test:4,=,1,0,hex;", "go with string"},
      {"byte_test:4,=,1,0,string foo;", "none of hex, dec, oct"},
      {"byte_test:4,=,1,0,bitmask 0;", "not from 1"},
      {"byte_test:4,=,1,0,endian middle;", "big or little"},
      {"byte_test:4,=,1,0,dce;", "DCE/RPC is not read"},
  });
}

TEST(RuleNumbers, NoBytesAreAllDigitsThereAreOrNone) {
  const auto test = last_test_of<ByteTest>("byte_test:0,>,4000,0,string,dec;");
  EXPECT_EQ(test.format.bytes, 0);
  EXPECT_TRUE(test.format.is_text);
  const auto jump = last_test_of<ByteJump>("byte_jump:0,0,relative,post_offset -8;");
  EXPECT_EQ(jump.format.bytes, 0);
  EXPECT_FALSE(jump.format.is_text);
}

TEST(RuleNumbers, LittleAndBigEndian) {
  EXPECT_TRUE(last_test_of<ByteTest>("byte_test:4,=,1,0,little;").format.little_endian);
  EXPECT_TRUE(last_test_of<ByteTest>("byte_test:4,=,1,0,endian little;").format.little_endian);
  EXPECT_FALSE(last_test_of<ByteTest>("byte_test:4,=,1,0,big;").format.little_endian);
}

TEST(RuleNumbers, ARuleHasSixteenVariables) {
  std::string options;
  for (int at = 0; at < 16; ++at) options += "byte_extract:1,0,v" + std::to_string(at) + ";";
  EXPECT_EQ(signature_of(options).variables, 16);
  EXPECT_EQ(signature_of(options + "byte_extract:1,0,v3;").variables, 16);
  EXPECT_NE(refusal_of(options + "byte_extract:1,0,w;").find("at most 16"), std::string::npos);
}

}  // namespace
}  // namespace millrace
