// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_framing.hpp"

#include <algorithm>
#include <charconv>

namespace millrace {

namespace {

/// A chunk's length that has no end within so many bytes is left to libhtp.
constexpr std::size_t kChunkLineBytes = 4096;
/// The formats of zlib, of raw deflate and of gzip differ within so many bytes.
constexpr std::size_t kCompressedFirstBytes = 16;
constexpr std::string_view kBlanks = " \t\r\n\v\f";

/// Bytes up to the next line's end; 0: it is not there.
std::size_t line_bytes(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

std::size_t line_or_rest(std::string_view bytes, bool is_end) {
  const std::size_t line = line_bytes(bytes);
  return line == 0 && is_end ? bytes.size() : line;
}

bool is_folding(char c) { return c == ' ' || c == '\t' || c == '\0'; }

/// A blank with a line's end: with a byte behind it libhtp may take it for the end of the headers.
bool is_blank_line(std::string_view bytes) {
  return bytes.size() > 1 && bytes[1] == '\n' && (bytes[0] == ' ' || bytes[0] == '\t');
}

bool is_empty_line(std::string_view line) { return line == "\n" || line == "\r\n"; }

/// A header with the lines that continue it, which begin with a blank: libhtp looks at the byte
/// behind a line's end for that. 0: it is not there as a whole.
std::size_t header_bytes(std::string_view bytes, bool is_end) {
  std::size_t header = line_or_rest(bytes, is_end);
  if (header == 0 || is_empty_line(bytes.substr(0, header))) return header;
  while (header < bytes.size() && is_folding(bytes[header])) {
    const std::string_view behind = bytes.substr(header);
    const std::size_t line = line_or_rest(behind, is_end);
    if (line == 0) return 0;
    if (is_blank_line(behind)) return header;
    header += line;
  }
  return header < bytes.size() || is_end ? header : 0;
}

/// What the first bytes of a line are.
enum class Begin : std::uint8_t { kUnclear, kBlank, kHttp, kOther };
Begin begin_of(std::string_view line, bool is_whole) {
  constexpr std::string_view kHttp = "http";
  std::size_t at = 0;
  while (at < line.size() && (line[at] == '\0' || kBlanks.find(line[at]) != kBlanks.npos)) ++at;
  const std::string_view word = line.substr(at, kHttp.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((word[i] | ' ') != kHttp[i]) return Begin::kOther;
  }
  if (word.size() == kHttp.size()) return Begin::kHttp;
  if (!is_whole) return Begin::kUnclear;
  return word.empty() ? Begin::kBlank : Begin::kOther;
}

}  // namespace

std::uint64_t chunk_length(std::string_view line) noexcept {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length, 16);
  return error == std::errc() && end != line.data() ? length : kNoChunkLength;
}

void HttpFraming::begin_body(bool is_compressed) noexcept {
  chunk_ = {};
  first_bytes_ = is_compressed ? kCompressedFirstBytes : 0;
}

std::size_t HttpFraming::next_of_body(std::string_view bytes, bool is_end,
                                      std::uint64_t left) noexcept {
  if (!is_end && bytes.size() < std::min<std::uint64_t>(first_bytes_, left)) return 0;
  first_bytes_ = 0;
  return std::min<std::uint64_t>(bytes.size(), left);
}

HttpPiece HttpFraming::next(HttpExpects expects, std::string_view bytes, bool is_end,
                            std::uint64_t left) noexcept {
  const bool is_awaited = first_bytes_ != 0;
  HttpPiece piece = piece_of(expects, bytes, is_end, left);
  piece.begins_compressed = is_awaited && first_bytes_ == 0;
  return piece;
}

HttpPiece HttpFraming::piece_of(HttpExpects expects, std::string_view bytes, bool is_end,
                                std::uint64_t left) noexcept {
  switch (expects) {
    case HttpExpects::kRequest: {
      const std::size_t line = line_or_rest(bytes, is_end);
      const bool is_empty = is_empty_line(bytes.substr(0, line));
      return {.bytes = line, .kind = is_empty ? HttpPiece::Kind::kSkip : HttpPiece::Kind::kFeed};
    }
    case HttpExpects::kResponse:
      return next_response(bytes, is_end);
    case HttpExpects::kLine:
      return {.bytes = header_bytes(bytes, is_end)};
    case HttpExpects::kBytes:
      return {.bytes = next_of_body(bytes, is_end, left)};
    case HttpExpects::kChunked:
      return {.bytes = next_of_chunks(bytes, is_end)};
    case HttpExpects::kNothing:
      return {.bytes = bytes.size(), .kind = HttpPiece::Kind::kSkip};
  }
  return {};
}

HttpPiece HttpFraming::next_response(std::string_view bytes, bool is_end) noexcept {
  const std::size_t line = line_or_rest(bytes, is_end);
  const Begin begin = in_body_line_
                          ? Begin::kOther
                          : begin_of(bytes.substr(0, line > 0 ? line : bytes.size()), line > 0);
  switch (begin) {
    case Begin::kUnclear:
      return {};
    case Begin::kBlank:
      return {.bytes = line, .kind = HttpPiece::Kind::kSkip};
    case Begin::kHttp:
      return {.bytes = line};
    case Begin::kOther:
      break;
  }
  in_body_line_ = line == 0;
  return {.bytes = line > 0 ? line : bytes.size(), .kind = HttpPiece::Kind::kBody};
}

std::size_t HttpFraming::next_of_chunks(std::string_view bytes, bool is_end) noexcept {
  switch (chunk_.at) {
    case Chunk::At::kLength: {
      const std::string_view window = bytes.substr(0, kChunkLineBytes);
      const std::size_t line = line_or_rest(window, is_end || window.size() == kChunkLineBytes);
      if (line == 0) return 0;
      const std::uint64_t length = chunk_length(window.substr(0, line));
      if (length != kNoChunkLength && length > 0) chunk_ = {Chunk::At::kData, length};
      return line;
    }
    case Chunk::At::kData: {
      const std::size_t data = next_of_body(bytes, is_end, chunk_.left);
      chunk_.left -= data;
      if (chunk_.left == 0) chunk_.at = Chunk::At::kEnd;
      return data;
    }
    case Chunk::At::kEnd: {
      const std::size_t line = line_bytes(bytes);
      if (line > 0) chunk_.at = Chunk::At::kLength;
      return line > 0 ? line : bytes.size();
    }
  }
  return bytes.size();
}

}  // namespace millrace
