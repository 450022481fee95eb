// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestration/planner/topology.hpp"

/// What takes the packets while a topology does not run: a bridge of the kernel between two of its
/// interfaces, or a command that tells bypass hardware. It outlives the topology, so what is known
/// of it lies beside the run directory:
///
///     <run dir>.bypass           mode 0600; what it is, and whether it is on
///     <run dir>.telemetry.json   while it is on (shared/control/discovery_file.hpp)

namespace millrace {

struct Bypass {
  std::string topology;                 ///< whose
  std::string bridge;                   ///< the bridge's name; empty: it is a command
  std::vector<std::string> interfaces;  ///< of the bridge, two
  std::vector<std::string> called;      ///< what these are called by now; empty: as they were
  std::vector<std::string> command;     ///< called with `on` or `off` behind these words
  bool on = false;
  const std::vector<std::string>& interfaces_now() const {
    return called.size() == interfaces.size() ? called : interfaces;
  }
  friend bool operator==(const Bypass&, const Bypass&) = default;
};

/// That of a topology, off. Nothing when it has none. A bridge is named after the topology.
std::optional<Bypass> bypass_of(const Topology& topology);

std::string bypass_path(const std::string& run_dir);
/// Nothing when there is no such file, or it makes no sense.
std::optional<Bypass> load_bypass(const std::string& run_dir);
/// Throws Error when it cannot be written.
void save_bypass(const std::string& run_dir, const Bypass& bypass);

/// Turns the one that is noted in `run_dir` on or off and notes that; a bridge that is as wanted
/// already is left alone, a command is called either way. Tells Prometheus; that it cannot be told
/// is said, and no error. Returns what was done, for people; empty: there is none. Blocks for as
/// long as the command runs, 20 s at most. Throws Error, with what the command said, when it cannot
/// be done.
std::string turn_bypass(const std::string& run_dir, bool on);
/// An interface of its bridge is called otherwise from now on. Throws Error.
void rename_in_bypass(const std::string& run_dir, const std::string& from, const std::string& to);

/// Before a topology takes its interfaces: an earlier bypass is turned off, and `bypass` (or none)
/// noted in its place. As turn_bypass().
std::string begin_bypassed_run(const std::string& run_dir, const std::optional<Bypass>& bypass);
/// When nothing of the topology has the interfaces any more: on. What was done, or why it could not
/// be; throws nothing.
std::string end_bypassed_run(const std::string& run_dir);

}  // namespace millrace
