// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/body_inflater.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace millrace {
namespace {

constexpr int kGzipBits = 31, kZlibBits = 15, kRawBits = -15;

std::string deflated(std::string_view text, int bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string made(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  made.resize(made.size() - stream.avail_out);
  deflateEnd(&stream);
  return made;
}

/// In pieces of that size.
std::string inflated(std::string_view encoding, std::string_view body, std::size_t piece,
                     std::uint32_t layers = 2) {
  BodyInflater inflater(encoding, layers);
  std::string made;
  for (std::size_t at = 0; at < body.size(); at += piece) {
    EXPECT_TRUE(inflater.read(body.substr(at, piece), [&](std::string_view text) {
      made += text;
      return true;
    }));
  }
  return made;
}

TEST(BodyInflater, UndoesEncodingsInAnyPieces) {
  const std::string text(100'000, 't');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, text.size()}) {
    EXPECT_EQ(inflated("gzip", deflated(text, kGzipBits), piece), text);
    EXPECT_EQ(inflated("Deflate", deflated(text, kZlibBits), piece), text);
    EXPECT_EQ(inflated("deflate", deflated(text, kRawBits), piece), text);
    const std::string twice = deflated(deflated(text, kZlibBits), kGzipBits);
    EXPECT_EQ(inflated("deflate, gzip", twice, piece), text);
  }
}

TEST(BodyInflater, GzipMayHaveSeveralMembers) {
  EXPECT_EQ(inflated("x-gzip", deflated("one", kGzipBits) + deflated("two", kGzipBits), 5),
            "onetwo");
}

TEST(BodyInflater, WhatIsNotCompressedIsLeftAsItIs) {
  EXPECT_EQ(inflated("gzip", "plain text", 1), "plain text");
  EXPECT_EQ(inflated("br", "anything", 3), "anything");
  EXPECT_TRUE(BodyInflater("identity", 2).is_plain());
  EXPECT_TRUE(BodyInflater("gzip", 0).is_plain());
  EXPECT_EQ(inflated("deflate", deflated("text", kZlibBits) + "rest", 2), "textrest");
}

TEST(BodyInflater, StopsWhereItsSinkSaysSo) {
  BodyInflater inflater("gzip", 1);
  std::size_t told = 0;
  const std::string body = deflated(std::string(100'000, 'b'), kGzipBits);
  EXPECT_FALSE(inflater.read(body, [&](std::string_view) { return ++told < 2; }));
  EXPECT_EQ(told, 2u);
}

}  // namespace
}  // namespace millrace
