// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/unique_fd.hpp"

/// The run directory of a topology: plan, state, control sockets, logs. What lives in it decides
/// whether the topology runs.
///
///     <run dir>/supervisor.state what the supervisor knows (shared/control/run_state.hpp)
///
/// What the supervisor knows beside the plan is in that file, but for history, interfaces and
/// bypass, which are below. Others are apart for a reason. Every process of the topology reads the
/// plan, and it is as long as the topology is large:
///
///     <run dir>/plan.bin        the plan (shared/control/plan_file.hpp); plan.bin.* are drafts
///
/// The kernel lets go of a lock whatever way its owner ends:
///
///     <run dir>/supervisor.lock locked while a supervisor lives; holds its pid
///
/// Another process than the supervisor writes or serves them:
///
///     <run dir>/hub.ready       the hub has made segment and status file
///     <run dir>/layout          of this segment and status file (shared/control/build_layout.hpp)
///     <run dir>/files.*         sockets of hub and standby (io-worker/ports/kept_file.hpp)
///     <run dir>/waiting.N       a successor of actor N waits (shared/control/actor_process.hpp)
///     <run dir>/telemetry.*     that telemetry lives (shared/control/beat_file.hpp), and where it
///                               serves; routes that are followed (shared/control/route_facts.hpp)
///     <run dir>/events.*, routes.*  the same of events and routes; the socket of events
///     <run dir>/control.*       sockets (shared/control/endpoint.hpp)
///
/// They are read when nothing of the run lives any more:
///
///     <run dir>/history/        what it has been (history.hpp)
///     <run dir>/lost*.pcapng    packets that workers died with (services/hub/lost_batches.hpp)
///     <run dir>/interfaces      what taken interfaces were like (io-worker/ports/interface.hpp)
///     <run dir>/logs/<actor>.log, .log.1   (log_keeper.hpp)
///     <run dir>.bypass          what takes the packets then (bypass.hpp)
///     <run dir>.telemetry.json  for Prometheus (shared/control/discovery_file.hpp)

namespace millrace {

/// Where the plan lies whose tables are being built (table_build.hpp).
std::string next_plan_path(const std::string& run_dir);

/// `given` made absolute, or the default when it is empty. A process knows its topology by this
/// very text. Throws Error when there is none given and `name` cannot be a topology's.
std::string run_dir_of(const std::string& name, const std::string& given);

/// A process of ours that runs with `--run-dir <run_dir>`, however it was started.
struct FoundProcess {
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  std::string program;  ///< "millrace-hub"
  std::string run_dir;
  int actor = -1;          ///< -1: it has none (an observer)
  bool successor = false;  ///< started to take the actor over; it may have, or wait
};
/// All processes of `run_dir`, found in /proc by their command lines. A process that has ended and
/// was not waited for (a zombie) is left out.
std::vector<FoundProcess> find_processes(const std::string& run_dir);

/// A process of a topology of the same name in another run directory, if there is one: names of
/// shared memory would collide.
std::optional<FoundProcess> find_namesake(const std::string& run_dir, const std::string& topology);

/// Name of the topology whose plan lies there; empty: none, another user's or another build's.
std::string topology_in(const std::string& run_dir);

/// Throws Error when the directory is there and something in it, none of it of a topology's: it
/// would be closed to others, and files that have our names would go.
void refuse_foreign_dir(const std::string& run_dir);

/// Makes the directory and logs/ below it, mode 0700. Throws Error with the path.
void make_run_dir(const std::string& run_dir);

/// What of an ended run stays to be read.
enum class Keep : std::uint8_t {
  kNothing,
  kLogs,
  kRecord  ///< logs, history, and packets that workers died with: of a run that ended by itself
};

/// Removes what an ended topology leaves: taken interfaces (given back), shared memory, table
/// images, sockets, plan, and what is not to be kept. No process may run; the caller holds the
/// lock.
void clean_run_dir(const std::string& run_dir, const std::string& topology, Keep keep);

/// True when nothing is there but what Keep::kRecord keeps. It stays until the next start in it, or
/// until `down` takes it away.
bool is_record(const std::string& run_dir);

/// The same with the logs and the lock, and the directory itself unless something of the user's is
/// in it.
void remove_run_dir(const std::string& run_dir, const std::string& topology);

/// After a start that was refused: the directory goes with its lock when nothing else is in it but
/// logs without an actor. The caller holds the lock.
void remove_empty_run_dir(const std::string& run_dir);

/// remove_run_dir() of all directories beside this one in which no process lives, but for records:
/// killed topologies keep huge pages. Returns how many. `run_dir` has to be a default one: nothing
/// else is beside it.
std::size_t remove_dead_beside(const std::string& run_dir);

/// Held while its owner lives: at most one supervisor a run directory. The kernel lets go of it
/// whatever way the owner ends.
class SupervisorLock {
 public:
  /// Makes the directory too. Throws Error that names the pid of the supervisor which holds it;
  /// a command that only cleans up is waited for.
  explicit SupervisorLock(const std::string& run_dir);
  /// Nothing when another process holds it.
  static std::optional<SupervisorLock> attempt(const std::string& run_dir);
  /// Pid of the supervisor that lives, 0 when none does.
  static pid_t holder(const std::string& run_dir);

 private:
  explicit SupervisorLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// Something of a topology lives there, so it has its interfaces.
bool is_in_use(const std::string& run_dir);

}  // namespace millrace
