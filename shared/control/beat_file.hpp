// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/base/unique_fd.hpp"

/// The heartbeat of an observer (observers.hpp), which has no entry in the status file:
///
///     <run dir>/NAME.beat   its pid, and when

namespace millrace {

struct Beat {
  std::int64_t pid = 0;
  std::uint64_t time_ns = 0;  ///< monotonic_ns()
};

/// `name`: of the observer.
std::string beat_path(const std::string& run_dir, const std::string& name);

/// Its side. One thread.
class BeatFile {
 public:
  /// Takes the file, which an earlier life may have left, and beats. Throws Error.
  explicit BeatFile(const std::string& path);
  /// Writes that this process lives now; false when it could not be written.
  bool beat() const noexcept;

 private:
  UniqueFd file_;
};

/// The latest one. Nothing when there has never been one.
std::optional<Beat> read_beat(const std::string& path);

}  // namespace millrace
