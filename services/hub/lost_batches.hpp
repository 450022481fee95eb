// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/layout/batch.hpp"

/// Keeps the packets that a worker died with, so that one can see what killed it:
///
///     <run dir>/lost.pcapng     the newest ones; mode 0600
///     <run dir>/lost.1.pcapng   those before them
///
/// Each packet has a comment that says which worker died and in which function. A packet may have
/// been changed by what the worker had done so far.

namespace millrace {

/// One thread. Writes only when a worker dies.
class LostBatches {
 public:
  static constexpr std::uint64_t kFileBytesMax = std::uint64_t{4} << 20;  ///< of each of the two

  explicit LostBatches(std::string run_dir, std::uint64_t file_bytes_max = kFileBytesMax);
  /// Adds the packets of the batch that have not been dropped. Throws Error when the file cannot be
  /// written. Returns how many packets were added.
  std::uint32_t keep(const Batch& batch, const std::string& comment);

 private:
  std::string path(const char* name) const { return run_dir_ + "/" + name; }

  std::string run_dir_;
  std::uint64_t file_bytes_max_;
};

}  // namespace millrace
