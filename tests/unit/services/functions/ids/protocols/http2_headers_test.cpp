// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http2_headers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/ids/protocols/http2_wire.hpp"

namespace millrace {
namespace {

constexpr std::size_t kRoom = 1u << 16;

std::string written(const std::optional<Http2HeaderList>& list) {
  if (!list) return "!";
  std::string text;
  for (const Http2Header& header : list->headers) text += header.name + "=" + header.value + ";";
  for (const std::uint32_t size : list->table_sizes) text += std::to_string(size) + ";";
  return text;
}

/// RFC 7541 C.4: three requests with Huffman codes, one behind the other.
TEST(Http2Headers, AreThoseOfTheExamplesOfTheRfc) {
  Http2HeaderDecoder decoder;
  const std::string front = ":method=GET;:scheme=http;:path=/;:authority=www.example.com;";
  EXPECT_EQ(written(decoder.decode("\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90"
                                   "\xf4\xff",
                                   kRoom)),
            front);
  EXPECT_EQ(written(decoder.decode("\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf", kRoom)),
            front + "cache-control=no-cache;");
  EXPECT_EQ(written(decoder.decode("\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89"
                                   "\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf",
                                   kRoom)),
            ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;"
            "custom-key=custom-value;");
}

TEST(Http2Headers, SizesOfTablesAreTold) {
  Http2HeaderDecoder decoder;
  EXPECT_EQ(written(decoder.decode("\x20\x3f\xe1\x1f\x82", kRoom)), ":method=GET;0;4096;");
  EXPECT_EQ(written(decoder.decode("\x3f\xe1\xff\x03\x82", kRoom)), ":method=GET;65536;");
}

TEST(Http2Headers, WhatIsNoBlockOrTooMuchIsNotRead) {
  EXPECT_EQ(written(Http2HeaderDecoder().decode("\xff\xff\xff\xff\xff\xff", kRoom)), "!");
  EXPECT_EQ(written(Http2HeaderDecoder().decode("\x40\x05"
                                                "ab",
                                                kRoom)),
            "!");
  // A table of 128 KiB.
  EXPECT_EQ(written(Http2HeaderDecoder().decode("\x3f\xe1\xff\x07\x82", kRoom)), "!");
  // Bytes that name one large header many times.
  Http2HeaderDecoder decoder;
  const std::string value(100, 'v');
  ASSERT_EQ(written(decoder.decode(std::string("\x40\x01n\x64") + value, kRoom)),
            "n=" + value + ";");
  EXPECT_EQ(written(decoder.decode(std::string(1000, '\xbe'), kRoom)), "!");
}

TEST(Http2Headers, SeveralOfOneNameAreOneValue) {
  const Http2HeaderList list{.headers = {{"a", "1"}, {"b", "2"}, {"a", "3"}}, .table_sizes = {}};
  EXPECT_EQ(list.find("a"), "1, 3");
  EXPECT_EQ(list.find("a", "; "), "1; 3");
  EXPECT_EQ(list.find("c"), std::nullopt);
}

TEST(Http2Headers, WhatIsKeptIsCounted) {
  Http2HeaderDecoder decoder;
  const std::size_t before = decoder.held();
  ASSERT_TRUE(decoder.decode(std::string("\x40\x01n\x64") + std::string(100, 'v'), kRoom));
  EXPECT_GE(decoder.held(), before + 133);
}

}  // namespace
}  // namespace millrace
