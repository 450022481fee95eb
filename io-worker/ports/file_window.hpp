// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io-worker/ports/capture_record.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {

/// Opens `path`; `flags` as for open(2), O_CLOEXEC is added; a new file gets mode 0644. Throws
/// Error with the path.
UniqueFd open_file(const std::string& path, int flags);

/// Bytes of an open regular file. Throws Error for any other kind of file; `path` is for its text.
std::uint64_t regular_file_bytes(const UniqueFd& file, const std::string& path);

/// Reads a file from its start through a fixed window. Blocks as read(2) does; allocates at
/// construction only.
class FileWindow {
 public:
  /// `bytes_max`: the most that need() is asked for.
  FileWindow(UniqueFd file, std::size_t bytes_max);
  /// The next `count` bytes without consuming them, or null when the file has fewer (or cannot be
  /// read: error()). Valid until the next call.
  const std::byte* need(std::size_t count) noexcept;
  /// Steps over bytes that need() has shown.
  void consume(std::size_t count) noexcept;
  /// Steps over any number of bytes; false when the file has fewer.
  bool skip(std::uint64_t count) noexcept;
  /// Bytes consumed so far.
  std::uint64_t offset() const { return offset_; }
  /// Nothing is left: the file ended exactly at offset().
  bool at_end() noexcept { return need(1) == nullptr; }
  /// Why need() gave null. `inside`: the reader was inside a record, which the file's end cuts off.
  CaptureStatus why_ended(bool inside) noexcept;
  /// The errno of a read that failed; 0: none has.
  int error() const { return error_; }
  /// Goes back to a place that offset() has told. A pipe cannot: then false, and nothing changes.
  bool seek(std::uint64_t offset) noexcept;

 private:
  UniqueFd file_;
  std::vector<std::byte> window_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t offset_ = 0;
  std::int64_t start_;  ///< of the file, where reading began; -1: a pipe
  int error_ = 0;
};

}  // namespace millrace
