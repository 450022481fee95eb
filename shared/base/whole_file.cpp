// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

std::string_view kind_of(const struct stat& info) {
  constexpr unsigned kMemMajor = 1, kNullMinor = 3;  // /dev/null
  const bool null = S_ISCHR(info.st_mode) && info.st_rdev == makedev(kMemMajor, kNullMinor);
  return null || S_ISREG(info.st_mode) ? "" : file_kind(info.st_mode);
}

void refuse_kind(std::string_view kind, const std::string& path) {
  if (kind.empty()) return;
  throw Error("read " + path + ": it is " + std::string(kind) + "; a regular file is needed");
}

}  // namespace

std::string_view file_kind(mode_t mode) {
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

std::string_view no_file_at(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? kind_of(info) : "";
}

UniqueFd open_regular_file(const std::string& path) {
  // Before it is opened: to open a device may do something.
  refuse_kind(no_file_at(path), path);
  // Not blocking: it may have become a pipe since.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) throw system_error("read " + path, errno);
  refuse_kind(kind_of(info), path);
  return file;
}

std::string whole_file(const std::string& path, std::size_t bytes_max) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const UniqueFd file = open_regular_file(path);
  std::string text;
  std::size_t bytes = 0;
  for (;;) {
    // One more than allowed, to see that there is more.
    if (bytes == text.size()) text.resize(std::min(bytes + kPieceBytes, bytes_max + 1));
    const ssize_t got = ::read(file.get(), text.data() + bytes, text.size() - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read " + path, errno);
    if (got == 0) break;
    bytes += static_cast<std::size_t>(got);
    if (bytes <= bytes_max) continue;
    throw Error("read " + path + ": it has more than " + std::to_string(bytes_max) + " bytes");
  }
  text.resize(bytes);
  return text;
}

}  // namespace millrace
