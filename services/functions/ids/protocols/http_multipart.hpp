// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Files in bodies of multipart forms, and the names of files in headers.

namespace millrace {

/// The value of `filename` in a Content-Disposition.
std::optional<std::string_view> filename_of(std::string_view disposition) noexcept;
/// The boundary in a Content-Type of a multipart body, as Suricata takes it: of any type that has
/// one, shorter than 200 bytes. Empty: none.
std::string_view boundary_of(std::string_view content_type) noexcept;

/// Where the files of a body go.
class FileSink {
 public:
  virtual ~FileSink() = default;
  virtual void begin_file(std::string_view name) = 0;
  virtual void file_bytes(std::string_view bytes) = 0;
  virtual void end_file() = 0;
};

/// Finds parts with a filename. What it finds does not depend on the pieces in which bytes come.
class MultipartReader {
 public:
  /// Of a body whose parts have "--" and `boundary` (1..) in front.
  explicit MultipartReader(std::string_view boundary);

  void read(std::string_view bytes, FileSink& sink);
  /// The body ends: so does a file that has no boundary behind it.
  void end(FileSink& sink);
  /// Bytes of memory that it keeps beside itself.
  std::size_t held() const noexcept { return mark_.capacity() + held_.capacity(); }

 private:
  enum class At { kOutside, kHeader, kFile };
  bool step(FileSink& sink);
  bool skip_to_boundary();
  bool read_header(FileSink& sink);
  bool read_file(FileSink& sink);
  void give(std::size_t bytes, FileSink& sink);
  std::string_view rest() const { return std::string_view(held_).substr(used_); }

  std::string mark_;      ///< "--boundary"
  std::string held_;      ///< not understood yet: less than a boundary, or a part's header
  std::size_t used_ = 0;  ///< of held_, bytes that are through
  At at_ = At::kOutside;
};

}  // namespace millrace
