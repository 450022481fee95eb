// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_framing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace {
namespace {

using Kind = HttpPiece::Kind;

/// The first piece, as text.
std::string first(HttpFraming& framing, HttpExpects expects, std::string_view bytes,
                  std::uint64_t left = UINT64_MAX, bool is_end = false) {
  return std::string(bytes.substr(0, framing.next(expects, bytes, is_end, left).bytes));
}

TEST(HttpFraming, LinesAreWhole) {
  HttpFraming framing;
  EXPECT_EQ(first(framing, HttpExpects::kRequest, "GET / HTTP/1.1\r\nHost"), "GET / HTTP/1.1\r\n");
  EXPECT_EQ(first(framing, HttpExpects::kRequest, "GET / HTTP"), "");
  EXPECT_EQ(first(framing, HttpExpects::kRequest, "GET / HTTP", UINT64_MAX, true), "GET / HTTP");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A: b\nC"), "A: b\n");
  EXPECT_EQ(framing.next(HttpExpects::kRequest, "\r\nGET", false, 0).kind, Kind::kSkip);
  EXPECT_EQ(framing.next(HttpExpects::kRequest, " \r\n", false, 0).kind, Kind::kFeed);
  EXPECT_EQ(framing.next(HttpExpects::kLine, "\r\n", false, 0).kind, Kind::kFeed);
}

TEST(HttpFraming, AHeaderHasTheLinesThatContinueIt) {
  HttpFraming framing;
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\r\n b\r\n\tc\r\nD"), "A:\r\n b\r\n\tc\r\n");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\r\n"), "");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\r\n b"), "");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\r\n b", UINT64_MAX, true), "A:\r\n b");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\r\n", UINT64_MAX, true), "A:\r\n");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\r\n \r\n\r\n"), "A:\r\n \r\n");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "A:\n \nB"), "A:\n");
  EXPECT_EQ(first(framing, HttpExpects::kLine, "\r\n b"), "\r\n");
}

TEST(HttpFraming, LinesThatAreNoResponseAreBodies) {
  HttpFraming framing;
  EXPECT_EQ(framing.next(HttpExpects::kResponse, "HTT", false, 0).bytes, 0u);
  EXPECT_EQ(framing.next(HttpExpects::kResponse, " \r\n", false, 0).kind, Kind::kSkip);
  EXPECT_EQ(framing.next(HttpExpects::kResponse, "http/1.0 200\n", false, 0).kind, Kind::kFeed);
  const HttpPiece body = framing.next(HttpExpects::kResponse, "HTML", false, 0);
  EXPECT_EQ(body.kind, Kind::kBody);
  EXPECT_EQ(body.bytes, 4u);
  const HttpPiece rest = framing.next(HttpExpects::kResponse, "HTTP\nHTTP", false, 0);
  EXPECT_EQ(rest.kind, Kind::kBody);
  EXPECT_EQ(rest.bytes, 5u);
  EXPECT_EQ(framing.next(HttpExpects::kResponse, "HTTP/1.1 1\n", false, 0).kind, Kind::kFeed);
  EXPECT_EQ(framing.next(HttpExpects::kResponse, "HT", true, 0).kind, Kind::kBody);
}

TEST(HttpFraming, ABodyHasItsLength) {
  HttpFraming framing;
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "abcdef", 4), "abcd");
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "abc", 4), "abc");
  EXPECT_EQ(framing.next(HttpExpects::kNothing, "abc", false, 0).kind, Kind::kSkip);
}

TEST(HttpFraming, ACompressedBodyBeginsWithAPieceThatTells) {
  HttpFraming framing;
  framing.begin_body(true);
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "ab"), "");
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "ab", 2), "ab");
  framing.begin_body(true);
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "0123456789abcdef"), "0123456789abcdef");
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "a"), "a");
  framing.begin_body(true);
  EXPECT_EQ(first(framing, HttpExpects::kBytes, "ab", UINT64_MAX, true), "ab");
}

TEST(HttpFraming, SaysWhereACompressedBodyBegins) {
  HttpFraming framing;
  const auto begins = [&](std::string_view bytes) {
    return framing.next(HttpExpects::kChunked, bytes, false, 0).begins_compressed;
  };
  framing.begin_body(true);
  EXPECT_FALSE(begins("14\r\n"));
  EXPECT_FALSE(begins("0123456789"));
  EXPECT_TRUE(begins("0123456789abcdef"));
  EXPECT_FALSE(begins("0123"));
  framing.begin_body(false);
  EXPECT_FALSE(begins("4\r\n") || begins("0123"));
}

TEST(HttpFraming, ChunksAreCutAtTheirEnds) {
  HttpFraming framing;
  framing.begin_body(false);
  std::string_view rest = "3;x\r\nabc\r\n\r\nA\r\n0123456789\r\n0\r\n";
  std::vector<std::string> pieces;
  while (!rest.empty()) {
    pieces.push_back(first(framing, HttpExpects::kChunked, rest));
    rest.remove_prefix(pieces.back().size());
  }
  const std::vector<std::string> expected = {"3;x\r\n", "abc",        "\r\n", "\r\n",
                                             "A\r\n",   "0123456789", "\r\n", "0\r\n"};
  EXPECT_EQ(pieces, expected);
  EXPECT_EQ(first(framing, HttpExpects::kChunked, "5"), "");
  EXPECT_EQ(first(framing, HttpExpects::kChunked, std::string(5000, '1')).size(), 4096u);
}

TEST(HttpFraming, LengthsOfChunks) {
  EXPECT_EQ(chunk_length("1f\r\n"), 31u);
  EXPECT_EQ(chunk_length(" \t0A;ext\r\n"), 10u);
  EXPECT_EQ(chunk_length("0\r\n"), 0u);
  EXPECT_EQ(chunk_length("\r\n"), kNoChunkLength);
  EXPECT_EQ(chunk_length("-1\r\n"), kNoChunkLength);
  EXPECT_EQ(chunk_length("123456789012345678\r\n"), kNoChunkLength);
}

}  // namespace
}  // namespace millrace
