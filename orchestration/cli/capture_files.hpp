// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "orchestration/cli/pcapng_writer.hpp"

namespace millrace {

/// The file or files that a capture goes to. Each is a whole pcapng: the interfaces in front, their
/// statistics at the end. Names are those of tcpdump: with a size alone FILE, FILE1, FILE2, ...;
/// with a number of files too, FILE0, ..., all with as many digits as the last one, and then FILE0
/// again.
class CaptureFiles {
 public:
  struct Limits {
    std::uint64_t bytes = 0;  ///< a file that has as many is followed by the next; 0: there is one
    std::uint32_t files = 0;  ///< of the ring; 0: no file is written again
  };
  /// `path`: "-" for standard output. `check`: called with each path before it is opened; may throw
  /// Error. Opens the first file. Throws Error.
  CaptureFiles(std::string path, Limits limits, std::vector<PcapngInterface> interfaces,
               std::function<void(const std::string&)> check);

  PcapngWriter& writer() { return *writer_; }
  /// It is time for next().
  bool is_full() const { return limits_.bytes != 0 && writer_->bytes() >= limits_.bytes; }
  /// Closes the file, which the caller has put the statistics to, and opens the next one. False:
  /// nothing reads it any more. Throws Error.
  bool next();
  /// Files that were begun, each time that they were.
  std::uint64_t count() const { return count_; }

 private:
  std::string path_of(std::uint64_t number) const;
  void open();

  std::string path_;
  Limits limits_;
  std::vector<PcapngInterface> interfaces_;
  std::function<void(const std::string&)> check_;
  std::unique_ptr<PcapngWriter> writer_;
  std::uint64_t count_ = 0;
};

}  // namespace millrace
