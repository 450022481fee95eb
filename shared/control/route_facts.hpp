// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What the process routes knows and observers show:
///
///     <run dir>/telemetry.routes   how the kernel's routes are followed, a line a function

namespace millrace {

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
/// All that was noted. Empty when there is no such file, or it is cut short.
std::vector<RouteFacts> read_routes(const std::string& run_dir);

}  // namespace millrace
