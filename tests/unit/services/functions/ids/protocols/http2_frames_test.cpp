// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http2_frames.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/ids/protocols/http2_wire.hpp"

namespace millrace {
namespace {

using http2_wire::data, http2_wire::frame;

/// What comes of bytes in pieces of that size: "type(payload)", and "!" where they are invalid.
std::string frames_of(std::string_view bytes, std::size_t piece) {
  Http2FrameReader reader;
  std::string told, data;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view next = bytes.substr(at, piece);
    for (;;) {
      const Http2Piece found = reader.next(next);
      if (found.kind == Http2Piece::Kind::kMore) break;
      if (found.kind == Http2Piece::Kind::kInvalid) return told + "!";
      data += found.bytes;
      if (found.kind == Http2Piece::Kind::kData && !found.is_last) continue;
      told += std::to_string(reader.frame().type_number) + "(" + data + ")";
      data.clear();
    }
    EXPECT_TRUE(next.empty());
  }
  return told;
}

void expect_read(const std::string& bytes, const std::string& wanted) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    EXPECT_EQ(frames_of(bytes, piece), wanted) << piece;
  }
}

TEST(Http2Frames, AreFoundInAnyPieces) {
  expect_read(frame(Http2Type::kSettings, 0, 0, "abcdef") + data(1, "body") + data(1, "") +
                  frame(Http2Type::kPing, 0, 0, "12345678") + frame(Http2Type{200}, 0, 1, "x") +
                  frame(Http2Type::kWindowUpdate, 0, 3, "1234"),
              "4(abcdef)0(body)0()6()200()8(1234)");
}

TEST(Http2Frames, PaddingIsLeftOut) {
  const std::uint8_t padded = http2_flags::kPadded;
  expect_read(frame(Http2Type::kData, padded, 1, std::string("\2dataPP", 7)) +
                  frame(Http2Type::kHeaders, padded, 1, std::string("\3headPPP", 8)),
              "0(data)1(head)");
  expect_read(frame(Http2Type::kData, padded, 1, "\5dat"), "!");
  expect_read(frame(Http2Type::kHeaders, padded, 1, "\5hea"), "!");
  expect_read(frame(Http2Type::kData, padded, 1, ""), "!");
}

TEST(Http2Frames, ThoseThatCannotBeReadAreInvalid) {
  expect_read(frame(Http2Type::kHeaders, http2_flags::kPriority, 1, "1234"), "!");
  expect_read(frame(Http2Type::kPushPromise, 0, 1, "123"), "!");
  const std::string large(Http2FrameReader::kPayloadMax + 1, 'a');
  expect_read(frame(Http2Type::kHeaders, 0, 1, large), "!");
  expect_read(data(1, large), "0(" + large + ")");
}

}  // namespace
}  // namespace millrace
