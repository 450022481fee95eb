// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What the supervisor knows of a run beside its plan, in one file of the run directory: for the
/// supervisor that takes over when this one is killed, for observers and for commands. The
/// supervisor alone writes it (orchestration/supervisor/state_file.hpp):
///
///     <run dir>/supervisor.state   `RunState` of run_state.capnp, mode 0600

namespace millrace {

inline constexpr std::size_t kStateBytesMax = std::size_t{4} << 20;  ///< larger files are refused

/// What is wanted of a post, and what became of it.
struct PostState {
  std::string name;
  bool wanted = false;  ///< a process should play it
  std::uint32_t restarts = 0;
  std::string end;  ///< how the process that played it last ended; empty: none has
  friend bool operator==(const PostState&, const PostState&) = default;
};

/// Workers of a group that should run. "ingress" and "egress" are groups too.
struct WantedWorkers {
  std::string group;
  std::uint32_t count = 0;
  friend bool operator==(const WantedWorkers&, const WantedWorkers&) = default;
};

/// A file that a table was built from.
struct TableFileFacts {
  std::string path;
  std::uint64_t accepted = 0;  ///< entries of the table that came from it
  friend bool operator==(const TableFileFacts&, const TableFileFacts&) = default;
};

/// A build of a function's table.
struct TableFacts {
  std::string function;
  std::uint64_t generation = 0;  ///< how many different ones there have been, one after the other
  std::uint64_t accepted = 0;    ///< rules, of the newest
  std::uint64_t refused = 0;
  std::vector<TableFileFacts> files{};
  friend bool operator==(const TableFacts&, const TableFacts&) = default;
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

/// Until when the last change has to be confirmed, and to which generation it goes back otherwise.
struct ConfirmDeadline {
  std::uint64_t time_ns = 0;  ///< boot_clock_ns()
  std::uint64_t generation = 0;
  std::string boot;  ///< boot_id() of that clock
  friend bool operator==(const ConfirmDeadline&, const ConfirmDeadline&) = default;
};

/// `control:` of a topology: which clients may put questions to its supervisor by TCP. No key is
/// in it.
struct RemoteControl {
  std::string address;               ///< "tcp://ADDRESS:PORT"
  std::string key;                   ///< file with the server's secret key
  std::vector<std::string> clients;  ///< files with public keys
  friend bool operator==(const RemoteControl&, const RemoteControl&) = default;
};

struct RunState {
  bool stopping = false;  ///< a supervisor ends the topology, or died over that
  std::vector<PostState> posts;
  std::vector<WantedWorkers> wanted;        ///< how many workers there should be, by group
  std::vector<TableFacts> tables;           ///< what builders said, by function
  ConfigFacts config;                       ///< what is in use, and what became of changes
  std::optional<ConfirmDeadline> deadline;  ///< nothing: no change waits to be confirmed
  std::optional<RemoteControl> control;     ///< nothing: the topology has none
  friend bool operator==(const RunState&, const RunState&) = default;
};

std::string run_state_path(const std::string& run_dir);

/// Writes `<path>.tmp`, then renames it: a reader sees the old state or the new one. Throws Error
/// that names the path.
void save_run_state(const std::string& run_dir, const RunState& state);

/// What save_run_state() wrote; RunState{} when there is no such file. Throws Error that names the
/// path and what is wrong when the file holds anything else.
RunState load_run_state(const std::string& run_dir);

/// The bytes of save_run_state() and load_run_state() without the file.
std::vector<std::byte> encode_run_state(const RunState& state);
RunState decode_run_state(std::span<const std::byte> bytes);

}  // namespace millrace
