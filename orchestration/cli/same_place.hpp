// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace millrace {

/// Absolute, without links and dots as far as the path exists: also for files to be made.
inline std::string canonical_place(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored);
}

/// True when two names are of one file, also by links; files that are still to be made have no more
/// than a place.
inline bool same_place(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored) ||
         canonical_place(a) == canonical_place(b);
}

/// A set of places, for many of them: a file counts by its device and inode and by its canonical
/// name, so that the cost of a look does not grow with the number of places.
class Places {
 public:
  /// False when same_place() holds for a place that is in the set; it then stays as it is.
  bool add(const std::string& name) {
    const std::string canonical = canonical_place(name);
    struct stat found {};
    const bool exists = ::stat(name.c_str(), &found) == 0;
    const std::pair file{found.st_dev, found.st_ino};
    if (names_.contains(canonical) || (exists && files_.contains(file))) return false;
    names_.insert(canonical);
    if (exists) files_.insert(file);
    return true;
  }

 private:
  std::set<std::string> names_;
  std::set<std::pair<dev_t, ino_t>> files_;
};

}  // namespace millrace
