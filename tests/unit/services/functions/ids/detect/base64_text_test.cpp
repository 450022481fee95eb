// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/base64_text.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <random>
#include <string>
#include <vector>

namespace millrace {
namespace {

struct Decoded {
  std::string text;
  bool has_ended;
  bool operator==(const Decoded&) const = default;
};

Decoded decoded(const std::string& text, Base64Form form = Base64Form::kPlain, bool is_all = true,
                std::size_t room = 100'000) {
  std::string out(room, '?');
  const Base64Text result = decode_base64(std::as_bytes(std::span(text)), form, is_all,
                                          std::as_writable_bytes(std::span(out)));
  return {out.substr(0, result.written), result.has_ended};
}

/// By libcrypto.
std::string encoded(const std::string& bytes) {
  std::string out(base64_bytes_max(bytes.size()) * 4 + 4, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  return out.substr(0, static_cast<std::size_t>(length));
}

std::string random_bytes(std::mt19937& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random());
  return bytes;
}

TEST(Base64Text, MakesWhatWasEncoded) {
  std::mt19937 random(1);
  for (std::size_t count = 0; count < 300; ++count) {
    const std::string bytes = random_bytes(random, count);
    for (const auto form : {Base64Form::kPlain, Base64Form::kMime, Base64Form::kFolded}) {
      EXPECT_EQ(decoded(encoded(bytes), form).text, bytes);
    }
    EXPECT_LE(bytes.size(), base64_bytes_max(encoded(bytes).size()));
  }
}

TEST(Base64Text, WhatIsCutMakesAsManyBytesAsItHasBitsFor) {
  EXPECT_EQ(decoded("Zm9vYg").text, "foob");
  EXPECT_EQ(decoded("Zm9vYmE").text, "fooba");
  EXPECT_EQ(decoded("Zm9vY").text, std::string("foo\x60"));
  EXPECT_EQ(decoded("Zm9vYg=").text, "foob");
  EXPECT_EQ(decoded("====").text, "");
}

TEST(Base64Text, WhileMoreMayFollowOnlyWholeGroupsCount) {
  EXPECT_EQ(decoded("Zm9vYg", Base64Form::kPlain, false), (Decoded{"foo", false}));
  EXPECT_EQ(decoded("Zm9vYg.", Base64Form::kPlain, false), (Decoded{"foob", true}));
}

TEST(Base64Text, APlainOneEndsInFrontOfOtherCharacters) {
  EXPECT_EQ(decoded("Zm9v\r\nYmFy"), (Decoded{"foo", true}));
  EXPECT_EQ(decoded("Zm.9v"), (Decoded{"f", true}));
  EXPECT_EQ(decoded(".Zm9v"), (Decoded{"", true}));
  EXPECT_EQ(decoded("Zg==Zm8="), (Decoded{"ffo", false}));
}

TEST(Base64Text, OneOfAMailLeavesThemOut) {
  EXPECT_EQ(decoded(" Zm9\r\nvYm-_Fy\n", Base64Form::kMime), (Decoded{"foobar", false}));
}

TEST(Base64Text, AFoldedOneGoesOnWhereTheNextLineBeginsWithABlank) {
  EXPECT_EQ(decoded("Zm9\r\n vYm\n\tFy", Base64Form::kFolded), (Decoded{"foobar", false}));
  EXPECT_EQ(decoded("Zm9v\r\nYmFy", Base64Form::kFolded), (Decoded{"foo", true}));
  EXPECT_EQ(decoded("Zm9v\r\n", Base64Form::kFolded, false), (Decoded{"foo", false}));
  EXPECT_EQ(decoded("Zg==Zm8=", Base64Form::kFolded), (Decoded{"f", true}));
}

TEST(Base64Text, NothingIsWrittenBehindTheRoom) {
  EXPECT_EQ(decoded("Zm9vYmFy", Base64Form::kPlain, true, 5), (Decoded{"foo", true}));
  EXPECT_EQ(decoded("Zm9v", Base64Form::kPlain, true, 0), (Decoded{"", true}));
}

TEST(Base64Text, PiecesMakeWhatTheWholeBeginsWith) {
  std::mt19937 random(2);
  constexpr std::string_view kBytes = "ABz09+/=. \r\n\t";
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t i = random() % 40; i != 0; --i) text += kBytes[random() % kBytes.size()];
    for (const auto form : {Base64Form::kPlain, Base64Form::kMime, Base64Form::kFolded}) {
      const Decoded whole = decoded(text, form);
      for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        const Decoded piece = decoded(text.substr(0, cut), form, false);
        EXPECT_TRUE(whole.text.starts_with(piece.text)) << text << ", " << cut;
        if (piece.has_ended) {
          EXPECT_EQ(piece, whole) << text << ", " << cut;
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace
