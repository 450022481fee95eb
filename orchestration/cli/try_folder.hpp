// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// A folder for the tables of one `millrace try`. It goes with its owner; that of a run that was
/// killed goes when the next run makes one. A run holds a lock on its folder (flock(2)), which ends
/// with its process however that dies.
class TryFolder {
 public:
  /// In memory where there is such a place (/dev/shm): a table is written and read, not kept.
  static std::filesystem::path place();

  /// Removes what killed runs have left in `parent`, and makes a folder of its own there. Throws
  /// Error.
  explicit TryFolder(const std::filesystem::path& parent = place());
  TryFolder(const TryFolder&) = delete;  // it goes with one of them
  TryFolder& operator=(const TryFolder&) = delete;
  ~TryFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd lock_;
};

}  // namespace millrace
