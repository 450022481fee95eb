// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleSticky, TheDialectDecidesWhetherANameIsSticky) {
  Signature signature = signature_of("content:\"a\"; http_uri; content:\"b\";");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kPayload);
  EXPECT_EQ(signature.buffers[1].buffer, RuleBuffer::kHttpUri);
  signature = signature_of("content:\"a\"; http_uri; content:\"b\";", kOfSnort3);
  EXPECT_EQ(test_of<ContentMatch>(signature, 0).bytes, "a");
  EXPECT_EQ(signature.buffers[1].buffer, RuleBuffer::kHttpUri);
  EXPECT_EQ(test_of<ContentMatch>(signature, 1).bytes, "b");
}

TEST(RuleSticky, PacketDataEndsASticky) {
  const Signature signature =
      signature_of("http_uri; content:\"a\"; raw_data; content:\"b\";", kOfSnort3);
  ASSERT_EQ(signature.buffers.size(), 2u);
  EXPECT_EQ(signature.buffers[1].buffer, RuleBuffer::kPayload);
}

TEST(RuleSticky, PartsAndMisplacedModifiersAreRefused) {
  expect_refused({{"http_header:field user-agent; content:\"a\";", "cannot be asked for"},
                  {"http_param:\"a\"; content:\"b\";", "http_param"}},
                 kOfSnort3);
  expect_refused({
      {"http_uri;", "no content stands in front"},
      {"content:\"a\"; http_uri:1;", "takes no value"},
      {"http.header; content:\"a\"; http_uri;", "does not go with a sticky buffer"},
      {"content:\"a\"; rawbytes; http_uri;", "rawbytes does not go with it"},
  });
}

}  // namespace
}  // namespace millrace
