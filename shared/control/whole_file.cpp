// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

UniqueFd open_file(const std::string& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file) throw system_error("open " + path, errno);
  return file;
}

}  // namespace

void write_all(int file, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("write " + path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void write_whole_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string draft = path + ".tmp";
  {
    const UniqueFd file = open_file(draft, O_WRONLY | O_CREAT | O_TRUNC);
    write_all(file.get(), bytes, draft);
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    throw system_error("rename " + draft + " to " + path, errno);
  }
}

std::vector<std::byte> read_whole_file(const std::string& path, std::size_t bytes_max) {
  const UniqueFd file =
      open_file(path, O_RDONLY | O_NONBLOCK);  // a pipe without a writer is not waited for
  std::vector<std::byte> bytes;
  std::byte piece[16384];
  for (;;) {
    const ssize_t got = ::read(file.get(), piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read " + path, errno);
    if (got == 0) return bytes;
    bytes.insert(bytes.end(), piece, piece + got);
    if (bytes.size() > bytes_max) {
      throw Error(path + ": longer than " + std::to_string(bytes_max) + " bytes");
    }
  }
}

}  // namespace millrace
