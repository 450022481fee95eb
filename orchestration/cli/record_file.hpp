// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// A file of records that ends behind a whole one, also on a disk that gets full.
class RecordFile {
 public:
  /// `file`: open for writing; a pipe may be. `name`: of it, in errors.
  RecordFile(UniqueFd file, std::string name);
  /// Makes the file anew. Throws Error.
  explicit RecordFile(const std::string& path);

  /// Where the next record is to be appended; end_record() says that it is whole.
  std::vector<std::byte>& buffer() { return buffer_; }
  void end_record() { ends_.push_back(buffer_.size()); }
  /// Appends a record.
  void put(std::string_view record);
  /// Bytes of all records, also those that wait.
  std::uint64_t bytes() const { return flushed_ + buffer_.size(); }
  /// Bytes that flush() would write.
  std::size_t waiting() const { return buffer_.size(); }

  /// Hands on what is buffered. False when nothing reads it any more, also with nothing to hand on.
  /// Throws Error when it cannot be written; the file then ends behind the last whole record.
  bool flush();

 private:
  bool has_reader() const;
  void cut(std::size_t written) noexcept;

  UniqueFd file_;
  std::string name_;
  std::uint64_t flushed_ = 0;
  std::vector<std::byte> buffer_;
  std::vector<std::size_t> ends_;  ///< of records in the buffer
};

}  // namespace millrace
