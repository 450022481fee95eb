// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The frames of a direction of HTTP/2 (RFC 9113 4).

namespace millrace {

/// What a client sends first.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class Http2Type : std::uint8_t {
  kData,
  kHeaders,
  kPriority,
  kResetStream,
  kSettings,
  kPushPromise,
  kPing,
  kGoAway,
  kWindowUpdate,
  kContinuation,
  kCount  ///< and others, which receivers pass over
};

namespace http2_flags {
inline constexpr std::uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8,
                              kPriority = 32;
}  // namespace http2_flags

struct Http2Frame {
  std::uint32_t length = 0;  ///< bytes of its payload
  Http2Type type = Http2Type::kCount;
  std::uint8_t type_number = 0;  ///< as it is sent
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

/// What comes of bytes.
struct Http2Piece {
  enum class Kind : std::uint8_t {
    kMore,     ///< all bytes are taken, and nothing is whole yet
    kFrame,    ///< `bytes` is the payload of a frame without its padding
    kData,     ///< `bytes` of a frame of data, without padding; maybe none
    kSkipped,  ///< a frame whose type is not known, or which says nothing, as it begins
    kInvalid   ///< no receiver reads on, or more than is kept: next() is not called again
  } kind = Kind::kMore;
  std::string_view bytes;  ///< good until the next call
  bool is_last = false;    ///< of kData: the frame ends with them
};

/// One thread.
class Http2FrameReader {
 public:
  /// A frame other than of data that has more bytes is invalid.
  static constexpr std::uint32_t kPayloadMax = 64u << 10;

  /// Takes bytes off the front of `bytes`. frame() is the piece's.
  Http2Piece next(std::string_view& bytes);
  const Http2Frame& frame() const noexcept { return frame_; }
  std::size_t held() const noexcept { return held_.capacity(); }

 private:
  enum class At : std::uint8_t { kHeader, kPadLength, kPayload, kData, kRest };
  bool gather(std::size_t wanted, std::string_view& bytes);
  Http2Piece begin_frame();
  Http2Piece whole_frame();
  Http2Piece data(std::string_view& bytes);

  At at_ = At::kHeader;
  Http2Frame frame_;
  std::string held_;           ///< of a header or payload, what has come
  std::uint32_t left_ = 0;     ///< with kData: of data; with kRest: of what says nothing
  std::uint32_t padding_ = 0;  ///< behind the data
  bool is_used_ = false;       ///< held_ was given out
};

}  // namespace millrace
