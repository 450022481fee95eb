// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Counts the lines of `file` behind `offset`, and cuts off what follows the last of them, half a
/// line. `error`: errno where that fails.
std::uint64_t keep_whole_lines(const UniqueFd& file, std::uint64_t offset, int& error) noexcept;

/// The file that lines are added to. Holds whole lines only, whatever happens to disk or process.
/// What it cannot do it says once, and does again when it can. One thread; calls last as long as
/// the disk takes.
///
/// It follows a rename, as log rotation needs it: a file that is no longer at its path is let go of
/// and a new one is begun there (looked at once a second, and on reopen()).
class EventFile {
 public:
  /// Where the next line will begin: the file (inode) and its size. 0: there is none now.
  struct Place {
    std::uint64_t file = 0, offset = 0;
  };
  enum class Life { kFirst, kRestarted };
  /// Opens it. Half a line that was left there becomes a line, but behind `begun`, where a
  /// killed process wrote: call lines_behind(begun) before anything else. Throws Error when it
  /// cannot be opened in the first life; in a later one that costs lines until it can (look()),
  /// lines_behind(begun) is 0, and half a line is cut off when it is opened.
  EventFile(const PlanEvents& settings, const Place& begun, Life life = Life::kFirst);
  explicit EventFile(const PlanEvents& settings) : EventFile(settings, {}) {}

  bool is_open() const noexcept { return static_cast<bool>(file_); }
  Place place() const noexcept;
  /// Whole lines that were added behind `place` (before this process's time); a half one is cut
  /// off. 0 when the file is another one by now.
  std::uint64_t lines_behind(const Place& place) noexcept;

  /// Adds `lines`, each of which has its end. Returns how many of them are in the file.
  std::uint64_t write(std::string_view lines) noexcept;
  /// Between writes: renames a file that is long enough. True when it did.
  bool rotate() noexcept;
  /// Once a second or so: goes where the path is; tries again what did not work.
  void look() noexcept;
  /// Closes it and opens what is at the path now (SIGHUP).
  void reopen() noexcept;

 private:
  void open(const Place& begun);
  void try_open(const Place& begun) noexcept;
  bool is_at_path() const noexcept;
  void complain(const std::string& what, int error) noexcept;
  void note_written(std::uint64_t lines, std::uint64_t of) noexcept;

  PlanEvents settings_;
  UniqueFd file_;
  Place begun_;  ///< where a killed process wrote into a file that could not be opened since
  std::uint64_t lost_ = 0;  ///< lines, since it was said; 0: all is well
  bool complained_ = false;
};

}  // namespace millrace
