// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/beat_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"

namespace millrace {

std::string beat_path(const std::string& run_dir, const std::string& name) {
  return run_dir + "/" + name + ".beat";
}

BeatFile::BeatFile(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {
  if (!file_ || !beat()) throw system_error("write " + path, errno);
}

bool BeatFile::beat() const noexcept {
  const Beat now{::getpid(), monotonic_ns()};
  return ::pwrite(file_.get(), &now, sizeof now, 0) == sizeof now;
}

std::optional<Beat> read_beat(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Beat beat;
  if (!file || ::pread(file.get(), &beat, sizeof beat, 0) != sizeof beat) return std::nullopt;
  return beat;
}

}  // namespace millrace
