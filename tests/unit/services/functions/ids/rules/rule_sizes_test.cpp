// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleSizes, IsDataAtHasAPlace) {
  const auto test = last_test_of<IsDataAt>("content:\"a\"; isdataat:!10,relative;");
  EXPECT_EQ(test.at.value, 10);
  EXPECT_TRUE(test.negated && test.relative);
  EXPECT_FALSE(last_test_of<IsDataAt>("isdataat:22, rawbytes;").relative);
}

TEST(RuleSizes, BuffersHaveASize) {
  auto size = last_test_of<BufferSize>("http.uri; bsize:5<>9;");
  EXPECT_EQ(size.low, 6u);
  EXPECT_EQ(size.high, 8u);
  size = last_test_of<BufferSize>("http.uri; bsize:!>4;");
  EXPECT_EQ(size.low, 5u);
  EXPECT_EQ(size.high, UINT32_MAX);
  EXPECT_TRUE(size.negated);
  size = last_test_of<BufferSize>("http_uri; bufferlen:50<=>150;", kOfSnort3);
  EXPECT_EQ(size.low, 50u);
  EXPECT_EQ(size.high, 150u);
}

TEST(RuleSizes, UriLengthIsOfTheNormalisedUriUnlessItSaysRaw) {
  Signature signature = signature_of("urilen:<10;");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kHttpUri);
  EXPECT_EQ(test_of<BufferSize>(signature).high, 9u);
  signature = signature_of("urilen:10,norm;");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kHttpUri);
  signature = signature_of("urilen:>400,raw;");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kHttpRawUri);
  EXPECT_EQ(test_of<BufferSize>(signature).low, 401u);
}

TEST(RuleSizes, WhatHasNoSizeIsRefused) {
  expect_refused({
      {"bsize:5;", "no sticky buffer"},
      {"content:\"a\"; bufferlen:5;", "no sticky buffer"},
      {"http.uri; bufferlen:5,relative;", "relative is not supported"},
      {"urilen:5,foo;", "neither norm nor raw"},
      {"urilen:5,raw,norm;", "norm or raw"},
      {"isdataat:70000;", "not from 0"},
      {"isdataat:5,foo;", "neither relative nor rawbytes"},
      {"isdataat:x;", "sets 'x'"},
  });
}

}  // namespace
}  // namespace millrace
