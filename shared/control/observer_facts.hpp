// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the supervisor, or a process beside the path, knows and observers show, in small files of
/// the run directory:
///
///     <run dir>/telemetry.tables   what builders said, a line a function
///     <run dir>/telemetry.routes   how the kernel's routes are followed, a line a function

namespace millrace {

struct TableFacts {
  std::string function;
  std::uint64_t generation = 0;  ///< how many different ones there have been, one after the other
  std::uint64_t accepted = 0;    ///< rules, of the newest
  std::uint64_t refused = 0;
  bool is_new = true;  ///< another one than before; in no file
  friend bool operator==(const TableFacts&, const TableFacts&) = default;
};

/// Enters a build of each function's table; `generation` is set here, one more than before when it
/// is new. Throws Error when the file cannot be written.
void note_tables(const std::string& run_dir, std::vector<TableFacts> built);

/// All that were built. Empty when there is no such file, or it is cut short.
std::vector<TableFacts> read_tables(const std::string& run_dir);

/// A table that follows the kernel's routes in place.
struct RouteFacts {
  std::string function;
  std::uint64_t prefixes = 0;  ///< in the table now
  std::uint64_t changes = 0;   ///< notifications of the kernel that were applied to the table
  std::uint64_t dumps = 0;     ///< times that all of the kernel's routes were read into it
  std::uint64_t overruns = 0;  ///< times that the kernel had no room for a notification
  friend bool operator==(const RouteFacts&, const RouteFacts&) = default;
};

/// By the process routes. Throws Error when the file cannot be written.
void note_routes(const std::string& run_dir, const std::vector<RouteFacts>& routes);
/// As read_tables().
std::vector<RouteFacts> read_routes(const std::string& run_dir);

struct WantedWorkers {
  std::string group;
  std::uint32_t count = 0;
  friend bool operator==(const WantedWorkers&, const WantedWorkers&) = default;
};

struct ConfigFacts {
  std::uint64_t generation = 0;  ///< 0: not known
  std::string hash;              ///< of the files that it was made from; empty: not known
  bool differs = false;          ///< they say something else by now
  std::uint64_t reloads_done = 0, reloads_refused = 0;
  std::uint64_t control_refused = 0;  ///< what the supervisor was sent and could not read
  std::optional<bool> bypass;         ///< whether it has the packets; nothing: there is none
  std::uint64_t changed_ns = 0;       ///< system clock: when this configuration came into use
  std::uint64_t failed_ns = 0;        ///< when a change was refused last; 0: none was
  friend bool operator==(const ConfigFacts&, const ConfigFacts&) = default;
};

}  // namespace millrace
