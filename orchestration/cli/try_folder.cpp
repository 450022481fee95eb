// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/try_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameStart = "millrace-try-";

/// Empty: it is not there, not ours, or the folder of a run that lives.
UniqueFd locked(const fs::path& folder) {
  UniqueFd file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat of = {};
  if (!file || ::fstat(file.get(), &of) != 0 || of.st_uid != ::geteuid()) return UniqueFd();
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(file) : UniqueFd();
}

bool is_there_still(const fs::path& folder, const UniqueFd& file) {
  struct stat here = {};
  struct stat there = {};
  return ::fstat(file.get(), &here) == 0 && ::lstat(folder.c_str(), &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

void remove_left(const fs::path& parent) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().starts_with(kNameStart)) found.push_back(entry.path());
  }
  for (const fs::path& folder : found) {
    if (const UniqueFd lock = locked(folder)) fs::remove_all(folder, ignored);
  }
}

}  // namespace

fs::path TryFolder::place() {
  return fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
}

TryFolder::TryFolder(const fs::path& parent) {
  remove_left(parent);
  // Between its making and its lock another run may take one for left behind.
  while (!lock_) {
    path_ = parent / (std::string(kNameStart) + "XXXXXX");
    if (::mkdtemp(path_.data()) == nullptr) throw system_error("create folder " + path_, errno);
    lock_ = locked(path_);
    if (lock_ && !is_there_still(path_, lock_)) lock_ = UniqueFd();
  }
}

TryFolder::~TryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace millrace
