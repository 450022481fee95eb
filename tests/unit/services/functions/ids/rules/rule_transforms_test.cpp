// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/services/functions/ids/rules/rule_drafts.hpp"

namespace millrace {
namespace {

TEST(RuleTransforms, TheyStandBehindAStickyBufferInOrder) {
  const struct {
    const char* option;
    Transform::Kind kind;
    const char* text;
  } rows[] = {
      {"to_lowercase;", Transform::Kind::kToLowercase, ""},
      {"to_uppercase;", Transform::Kind::kToUppercase, ""},
      {"strip_whitespace;", Transform::Kind::kStripWhitespace, ""},
      {"compress_whitespace;", Transform::Kind::kCompressWhitespace, ""},
      {"url_decode;", Transform::Kind::kUrlDecode, ""},
      {"dotprefix;", Transform::Kind::kDotPrefix, ""},
      {"to_md5;", Transform::Kind::kToMd5, ""},
      {"to_sha1;", Transform::Kind::kToSha1, ""},
      {"to_sha256;", Transform::Kind::kToSha256, ""},
      {"xor:\"41 42\";", Transform::Kind::kXor, "AB"},
      {"pcrexform:\"a([b-c]+)\";", Transform::Kind::kPcre, "a([b-c]+)"},
      {"header_lowercase;", Transform::Kind::kHeaderLowercase, ""},
      {"strip_pseudo_headers;", Transform::Kind::kStripPseudoHeaders, ""},
      {"domain;", Transform::Kind::kDomain, ""},
      {"tld;", Transform::Kind::kTld, ""},
  };
  for (const auto& row : rows) {
    const Signature signature =
        signature_of("http.header; to_md5; " + std::string(row.option) + " content:\"a\";");
    ASSERT_EQ(signature.buffers[0].transforms.size(), 2u) << row.option;
    EXPECT_EQ(signature.buffers[0].transforms[1].kind, row.kind) << row.option;
    EXPECT_EQ(signature.buffers[0].transforms[1].text, row.text) << row.option;
  }
}

TEST(RuleTransforms, ElsewhereTheyAreRefused) {
  expect_refused({
      {"to_md5;", "directly behind a sticky buffer"},
      {"pkt_data; to_md5;", "directly behind a sticky buffer"},
      {"http.uri; content:\"a\"; to_md5;", "directly behind a sticky buffer"},
      {"http.uri; msg:\"a\"; to_md5;", "directly behind a sticky buffer"},
      {"http.uri; xor:\"4\";", "half a byte"},
      {"http.uri; xor:\"\";", "1 to 255 bytes"},
      {"http.uri; pcrexform:\"ab\";", "captures one group"},
      {"http.uri; pcrexform:\"a(b\";", "missing closing parenthesis"},
  });
  std::string many = "http.uri;";
  for (int at = 0; at < 17; ++at) many += " url_decode;";
  EXPECT_NE(refusal_of(many).find("too many"), std::string::npos);
}

}  // namespace
}  // namespace millrace
