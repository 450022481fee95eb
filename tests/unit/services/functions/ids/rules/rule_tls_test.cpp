// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

TEST(RuleTls, VersionsAreOneOfSome) {
  Signature signature = signature_of("tls.version:1.2;");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kTlsVersion);
  EXPECT_THAT(test_of<DatasetMatch>(signature).values, ElementsAre("1.2"));
  EXPECT_EQ(signature.protocol, RuleProtocol::kTls);
  EXPECT_TRUE(test_of<DatasetMatch>(signature_of("tls_version:!\"1.0\";")).negated);
  signature = signature_of("ssl_version:tls1.2,tls1.0;");
  EXPECT_THAT(test_of<DatasetMatch>(signature).values, ElementsAre("1.0", "1.2"));
  const auto none = test_of<DatasetMatch>(signature_of("ssl_version:!tls1.2,!tls1.3;"));
  EXPECT_TRUE(none.negated);
  EXPECT_THAT(none.values, ElementsAre("1.2", "1.3"));
}

TEST(RuleTls, OldKeywordsHaveTheTextOfTheBuffer) {
  Signature signature = signature_of("tls.subject:!\"CN=a\\;b\";");
  EXPECT_EQ(signature.buffers[0].buffer, RuleBuffer::kTlsSubject);
  EXPECT_EQ(test_of<ContentMatch>(signature).bytes, "CN=a;b");
  EXPECT_TRUE(test_of<ContentMatch>(signature).negated);
  EXPECT_EQ(signature_of("tls.issuerdn:\"O=a\";").buffers[0].buffer, RuleBuffer::kTlsIssuer);
  const auto whole = test_of<ContentMatch>(signature_of("tls.fingerprint:\"4A:5b\";"));
  EXPECT_TRUE(whole.starts_with && whole.ends_with);
  EXPECT_EQ(whole.bytes, "4a:5b");
}

TEST(RuleTls, WhatIsNotReadIsRefused) {
  expect_refused({
      {"tls.version:1.4;", "none of 1.0"},
      {"ssl_version:sslv2;", "before TLS 1.0"},
      {"ssl_version:tls1.9;", "none of 1.0"},
      {"ssl_version:tls1.0,!tls1.1;", "some are not"},
      {"tls.subject:abc;", "no double quotes"},
      {"tls.subject:\"\";", "empty text"},
      {"tls.subject:\"a\",nocase;", "behind the quotes"},
      {"tls.subject:\"a\"; nocase;", "no content stands in front"},
  });
}

}  // namespace
}  // namespace millrace
