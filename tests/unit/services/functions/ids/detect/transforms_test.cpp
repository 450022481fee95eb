// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/transforms.hpp"

#include <gtest/gtest.h>

#include <string>

#include "services/functions/ids/work_budget.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using TransformKind = Transform::Kind;

std::string transformed(const std::vector<Transform>& steps, const std::string& text,
                        std::uint64_t base = 0) {
  const Transforms transforms{steps};
  TransformScratch scratch;
  RegexScratch regex_scratch;
  const BufferValue value{.bytes = std::as_bytes(std::span(text)), .base = base};
  const BufferValue result = transforms.apply(value, scratch, regex_scratch);
  EXPECT_EQ(result.base, base);
  return {reinterpret_cast<const char*>(result.bytes.data()), result.bytes.size()};
}

std::string hex_of(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

TEST(Transforms, OfATextThatCannotBeLookedAtNothingIsLeft) {
  const std::vector<Transform> steps = {{TransformKind::kPcre, "(b)"}};
  const Transforms transforms{steps};
  TransformScratch scratch;
  RegexScratch regex_scratch;
  WorkShare share;
  regex_scratch.use(share);
  const std::string text = "abc";
  for (const std::uint32_t units : {1u, 0u}) {
    share.begin(units);
    const BufferValue result =
        transforms.apply({.bytes = std::as_bytes(std::span(text))}, scratch, regex_scratch);
    EXPECT_EQ(result.bytes.size(), units);
  }
}

// RFC 1321, A.5; RFC 3174, 7.3; FIPS 180-2, B.1.
TEST(Transforms, DigestsAreThoseOfTheirStandards) {
  EXPECT_EQ(hex_of(transformed({{TransformKind::kToMd5, ""}}, "abc")),
            "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex_of(transformed({{TransformKind::kToMd5, ""}}, "")),
            "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex_of(transformed({{TransformKind::kToSha1, ""}}, "abc")),
            "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_of(transformed({{TransformKind::kToSha256, ""}}, "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Transforms, ChangeLettersAndBlanks) {
  EXPECT_EQ(transformed({{TransformKind::kToLowercase, ""}}, "aBZ@[\xC4"), "abz@[\xC4");
  EXPECT_EQ(transformed({{TransformKind::kToUppercase, ""}}, "aBz`{\xE4"), "ABZ`{\xE4");
  EXPECT_EQ(transformed({{TransformKind::kStripWhitespace, ""}}, " a\tb\r\n\v\f c"), "abc");
  EXPECT_EQ(transformed({{TransformKind::kCompressWhitespace, ""}}, "\t a  b \n"), "\ta b ");
  EXPECT_EQ(transformed({{TransformKind::kCompressWhitespace, ""}}, ""), "");
}

TEST(Transforms, UrlDecodeLeavesWhatIsNoEscape) {
  const std::vector<Transform> steps = {{TransformKind::kUrlDecode, ""}};
  EXPECT_EQ(transformed(steps, "a%20b+c%2fd%2F"), "a b c/d/");
  EXPECT_EQ(transformed(steps, "%zz%4%4g%"), "%zz%4%4g%");
  EXPECT_EQ(transformed(steps, "%2541"), "%41");
  EXPECT_EQ(transformed(steps, "x%41"), "xA");
  EXPECT_EQ(transformed(steps, "x%4"), "x%4");
}

TEST(Transforms, DotIsPutInFrontOfTheBegin) {
  const std::vector<Transform> steps = {{TransformKind::kDotPrefix, ""}};
  EXPECT_EQ(transformed(steps, "a.b"), ".a.b");
  EXPECT_EQ(transformed(steps, "a.b", 5), "a.b");
}

TEST(Transforms, XorGoesThroughItsKey) {
  const std::vector<Transform> steps = {{TransformKind::kXor, "\x01\x02\x03"}};
  EXPECT_EQ(transformed(steps, "aaaa"), "`cb`");
  EXPECT_EQ(transformed(steps, "aaaa", 4), "cb`c");
  EXPECT_THROW(transformed({{TransformKind::kXor, ""}}, ""), Error);
}

TEST(Transforms, HeadersByLine) {
  EXPECT_EQ(transformed({{TransformKind::kHeaderLowercase, ""}}, "Ab-C: De:F\r\nGH:I\nJ"),
            "ab-c: De:F\r\ngh:I\nj");
  EXPECT_EQ(transformed({{TransformKind::kStripPseudoHeaders, ""}},
                        ":method: a\r\nhost: :b\r\n:path: c\r\nd"),
            "host: :b\r\nd");
  EXPECT_EQ(transformed({{TransformKind::kStripPseudoHeaders, ""}}, ":a"), "");
}

TEST(Transforms, PcreLeavesTheGroup) {
  const std::vector<Transform> steps = {{TransformKind::kPcre, "[a-z]+\\s+(.*)\\s+x"}};
  EXPECT_EQ(transformed(steps, "get  /a/b  x"), "/a/b ");
  EXPECT_EQ(transformed(steps, "GET  /a/b"), "GET  /a/b");
  EXPECT_THROW(transformed({{TransformKind::kPcre, "a"}}, ""), Error);
  EXPECT_THROW(transformed({{TransformKind::kPcre, "(a)(b)"}}, ""), Error);
  EXPECT_THROW(transformed({{TransformKind::kPcre, "("}}, ""), Error);
}

TEST(Transforms, OneBehindTheOther) {
  EXPECT_EQ(transformed({{TransformKind::kUrlDecode, ""},
                         {TransformKind::kToUppercase, ""},
                         {TransformKind::kPcre, "^(.)"},
                         {TransformKind::kDotPrefix, ""}},
                        "%61bc"),
            ".A");
  EXPECT_EQ(transformed({}, "as it is"), "as it is");
}

TEST(Transforms, KnowWhatNeedsTheWholeBuffer) {
  const auto needs_all = [](TransformKind kind, const char* text = "") {
    const std::vector<Transform> steps = {{TransformKind::kToLowercase, ""}, {kind, text}};
    return Transforms(steps).needs_all();
  };
  for (const auto kind : {TransformKind::kToMd5, TransformKind::kToSha1, TransformKind::kToSha256,
                          TransformKind::kUrlDecode, TransformKind::kStripPseudoHeaders}) {
    EXPECT_TRUE(needs_all(kind));
  }
  EXPECT_TRUE(needs_all(TransformKind::kPcre, "(a)"));
  EXPECT_FALSE(needs_all(TransformKind::kXor, "a"));
  EXPECT_FALSE(needs_all(TransformKind::kStripWhitespace));
  EXPECT_FALSE(needs_all(TransformKind::kDotPrefix));
}

TEST(Transforms, PublicSuffixesAreNotKnown) {
  EXPECT_THROW(transformed({{TransformKind::kDomain, ""}}, ""), Error);
  EXPECT_THROW(transformed({{TransformKind::kTld, ""}}, ""), Error);
}

}  // namespace
}  // namespace millrace
