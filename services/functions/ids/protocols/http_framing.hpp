// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

/// In which pieces libhtp gets the bytes of a direction. It looks ahead within a piece, so what it
/// makes of bytes depends on where pieces end. Here they end at lines and at the ends of bodies, in
/// whatever pieces the bytes come: the result is the same, and a message ends where a piece ends.

namespace millrace {

/// What libhtp expects next.
enum class HttpExpects : std::uint8_t {
  kRequest,   ///< the first line
  kResponse,  ///< the first line: lines that are none belong to a body
  kLine,      ///< of headers: a header has all of its lines, or it is the empty line
  kBytes,     ///< `left` bytes of a body
  kChunked,   ///< a body in chunks
  kNothing,   ///< behind a request of HTTP/0.9
};

struct HttpPiece {
  std::size_t bytes = 0;  ///< 0: more must come first
  enum class Kind : std::uint8_t {
    kFeed,
    kSkip,  ///< of no message
    kBody,  ///< what stands between responses, which browsers take for a body
  } kind = Kind::kFeed;
  bool begins_compressed = false;  ///< the first one of a compressed body
};

/// One direction.
class HttpFraming {
 public:
  /// A body begins. libhtp tells the format of a compressed one by its first piece, which must not
  /// be too short for that.
  void begin_body(bool is_compressed) noexcept;
  /// The piece at the begin of `bytes` (1..). `is_end`: nothing follows them. `left`: with kBytes.
  HttpPiece next(HttpExpects expects, std::string_view bytes, bool is_end,
                 std::uint64_t left) noexcept;

 private:
  struct Chunk {
    enum class At : std::uint8_t { kLength, kData, kEnd } at = At::kLength;
    std::uint64_t left = 0;
  };
  HttpPiece piece_of(HttpExpects expects, std::string_view bytes, bool is_end,
                     std::uint64_t left) noexcept;
  HttpPiece next_response(std::string_view bytes, bool is_end) noexcept;
  std::size_t next_of_chunks(std::string_view bytes, bool is_end) noexcept;
  std::size_t next_of_body(std::string_view bytes, bool is_end, std::uint64_t left) noexcept;

  Chunk chunk_;
  std::size_t first_bytes_ = 0;  ///< of the body's first piece, at least
  bool in_body_line_ = false;    ///< within a line that is no response's
};

/// Of a line with the length of a chunk: the digits in front, which blanks may precede. None: empty
/// or not a length; libhtp decides.
constexpr std::uint64_t kNoChunkLength = std::numeric_limits<std::uint64_t>::max();
std::uint64_t chunk_length(std::string_view line) noexcept;

}  // namespace millrace
