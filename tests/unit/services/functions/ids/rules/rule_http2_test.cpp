// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

/// The examples of Suricata's documentation.
TEST(RuleHttp2, NamesAreValuesOfFrames) {
  Signature signature = signature_of("http2.frametype:GOAWAY;");
  EXPECT_EQ(signature.protocol, RuleProtocol::kHttp2);
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kHttp2FrameType);
  EXPECT_EQ(test_of<ContentMatch>(signature).bytes, "\7");
  EXPECT_TRUE(test_of<ContentMatch>(signature).ends_with);
  signature = signature_of("http2.errorcode: INADEQUATE_SECURITY;");
  EXPECT_EQ(test_of<ContentMatch>(signature).bytes, std::string("\0\0\0\xc", 4));
  signature = signature_of("http2.errorcode:NO_ERROR;");
  EXPECT_EQ(test_of<ContentMatch>(signature).bytes, std::string(4, '\0'));
}

TEST(RuleHttp2, NumbersAreCompared) {
  Signature signature = signature_of("http2.priority:2;");
  EXPECT_EQ(test_of<ByteTest>(signature).compare, Compare::kEqual);
  EXPECT_EQ(test_of<ByteTest>(signature).format.bytes, 1);
  signature = signature_of("http2.priority:>100;");
  EXPECT_EQ(test_of<ByteTest>(signature).value.value, 101);
  signature = signature_of("http2.priority:32-64;");
  ASSERT_EQ(signature.buffers[0].tests.size(), 2u);
  signature = signature_of("http2.window:<100000;");
  EXPECT_EQ(std::get<ByteTest>(signature.buffers[0].tests[1]).value.value, 99'999);
  EXPECT_EQ(std::get<ByteTest>(signature.buffers[0].tests[1]).format.bytes, 4);
  EXPECT_EQ(signature_of("http2.size_update:1234;").buffers[0].buffer,
            RuleBuffer::kHttp2SizeUpdate);
}

TEST(RuleHttp2, SettingsHaveANameAndANumber) {
  const Signature signature = signature_of("http2.settings:SETTINGS_ENABLE_PUSH=0;");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kHttp2Setting);
  EXPECT_EQ(test_of<ContentMatch>(signature).bytes, std::string("\0\2", 2));
  const auto& number = std::get<ByteTest>(signature.buffers[0].tests[1]);
  EXPECT_EQ(number.offset.value, 2);
  EXPECT_EQ(number.value.value, 0);
  EXPECT_EQ(
      signature_of("http2.settings:SETTINGS_HEADER_TABLE_SIZE > 4096;").buffers[0].tests.size(),
      3u);
}

TEST(RuleHttp2, EachKeywordAsksForAValueOfItsOwn) {
  const Signature signature = signature_of(
      "http2.frametype:DATA; http2.frametype:HEADERS; http2.header_name; content:\"a\";");
  EXPECT_EQ(signature.buffers.size(), 3u);
}

TEST(RuleHttp2, WhatIsNotKnownIsRefused) {
  expect_refused({
      {"http2.frametype:NOTHING;", "none that is known"},
      {"http2.frametype:256;", ""},
      {"http2.settings:SETTINGS_NOTHING=1;", "none of the settings"},
      {"http2.window:a;", ""},
      {"http2.priority:!2-9;", "negated range"},
  });
}

}  // namespace
}  // namespace millrace
