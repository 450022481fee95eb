// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace millrace {

/// What one process said.
struct LogLine {
  std::uint64_t time_ns = 0;  ///< system clock
  std::string who;            ///< name of the log: "front.0", "builder.look", "supervisor"
  std::string text;
};

/// The logs of a run directory (<run dir>/logs/NAME.log, and the older file of each), read again
/// and again. One that is moved between two reads goes on where it was; one that is moved twice has
/// a gap.
class LogFiles {
 public:
  /// `wanted`: names; empty: all that there are, also later ones. Throws Error with the names that
  /// there are when one is unknown.
  LogFiles(const std::string& run_dir, std::vector<std::string> wanted);
  /// Whole lines that are new, by time. A line without one of its own (a library's) has that of the
  /// line before it in its log, the first ones that of the log's last change.
  std::vector<LogLine> read_new();

 private:
  struct Place {
    std::uint64_t bytes = 0;    ///< read so far
    std::uint64_t older = 0;    ///< which file the older one is; 0: there is none
    std::uint64_t time_ns = 0;  ///< of the last line
  };
  std::vector<std::string> names() const;
  void read_one(const std::string& name, std::vector<LogLine>& lines);
  void read_file(const std::string& path, const std::string& name, Place& place,
                 std::vector<LogLine>& lines);

  std::string folder_;
  std::vector<std::string> wanted_;
  std::map<std::string, Place> places_;
};

/// "90s", "15m", "2h", "1d", or a time as in the log ("2026-11-22T08:24:46Z", or the day alone).
/// Throws Error. `now_ns`: what an age is counted from.
std::uint64_t parse_since(const std::string& text, std::uint64_t now_ns);

}  // namespace millrace
