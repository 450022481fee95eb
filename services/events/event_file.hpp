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

/// Counts the whole lines of `file` behind `offset`, and cuts off half a line after the last one.
/// `error`: errno when that fails.
std::uint64_t keep_whole_lines(const UniqueFd& file, std::uint64_t offset, int& error) noexcept;

/// The file to which lines are added. It holds whole lines only, whatever happens to disk or
/// process. An error is logged once, and the work is tried again. One thread; calls last as long as
/// the disk takes.
///
/// It follows a rename, as log rotation needs it: when its file is no longer at the path, it closes
/// the file and begins a new one there (checked once a second, and on reopen()).
class EventFile {
 public:
  /// Where the next line will begin: the file (inode) and its size. 0: there is no file now.
  struct Place {
    std::uint64_t file = 0, offset = 0;
  };
  enum class Life { kFirst, kRestarted };
  /// Opens the file. Half a line at its end becomes a line, unless it lies behind `begun`, where a
  /// killed process wrote: call lines_behind(begun) before anything else. In the first life it
  /// throws Error when the file cannot be opened. In a later life lines are lost until it can be
  /// (look()); lines_behind(begun) is then 0, and half a line is cut off once the file is open.
  EventFile(const PlanEvents& settings, const Place& begun, Life life = Life::kFirst);
  explicit EventFile(const PlanEvents& settings) : EventFile(settings, {}) {}

  bool is_open() const noexcept { return static_cast<bool>(file_); }
  Place place() const noexcept;
  /// The whole lines that a process before this one added behind `place`; cuts off half a line. 0
  /// when the file is another one by now.
  std::uint64_t lines_behind(const Place& place) noexcept;

  /// Adds `lines`, each with its line end. Returns how many of them are in the file.
  std::uint64_t write(std::string_view lines) noexcept;
  /// Called between writes: renames the file if it is long enough. True when it did.
  bool rotate() noexcept;
  /// Called once a second or so: reopens the path if the file has moved; tries again what failed.
  void look() noexcept;
  /// Closes the file and opens the one that is at the path now (SIGHUP).
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
