// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {

std::string whole_file(const std::string& path, std::size_t bytes_max) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw system_error("read " + path, errno);
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
