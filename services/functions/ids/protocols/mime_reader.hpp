// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/protocols/http_multipart.hpp"

/// Bodies in a mail (RFC 2045, 2046): each part without parts of its own, decoded.

namespace millrace {

/// What it gives does not depend on the pieces in which a line comes.
class MimeReader {
 public:
  /// A piece of a line, with the line's end if it has that. `begins`: it is the line's first piece,
  /// which has at least a boundary's bytes (kPieceBytesMin), or the whole line.
  void read(std::string_view piece, bool begins, FileSink& sink);
  /// The mail ends.
  void end(FileSink& sink);

  /// Bytes of memory that it keeps beside itself.
  std::size_t held() const noexcept;

  static constexpr std::size_t kPieceBytesMin = 512;

 private:
  static constexpr std::size_t kHeaderBytesMax = 16u << 10, kBoundariesMax = 8;
  enum class At : std::uint8_t { kHeader, kBody, kOutside };
  enum class Encoding : std::uint8_t { kPlain, kBase64, kQuoted };

  bool take_boundary(std::string_view line, FileSink& sink);
  void read_header(std::string_view piece, bool begins, FileSink& sink);
  void take_header();
  void end_header(FileSink& sink);
  void begin_part();
  void end_part(FileSink& sink);
  void read_body(std::string_view piece, FileSink& sink);
  void read_base64(std::string_view piece, FileSink& sink);
  bool read_quoted(std::string_view text, bool ends_line, FileSink& sink);
  void give(std::string_view bytes, FileSink& sink);

  std::vector<std::string> boundaries_;  ///< the outermost first
  std::string header_, type_, disposition_;
  std::string held_;           ///< of an encoded body: what more is needed for
  std::string_view ending_;    ///< of the line before, which a boundary takes with it
  bool holds_return_ = false;  ///< CR at the end of the piece before
  At at_ = At::kHeader;
  Encoding encoding_ = Encoding::kPlain;
};

}  // namespace millrace
