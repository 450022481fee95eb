// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/running.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "orchestration/supervisor/key_files.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_beside(const std::string& run_dir) {
  std::vector<std::string> names;
  std::error_code error;  // nothing ever ran here: then there is no such folder
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(run_dir).parent_path(), error)) {
    if (fs::exists(entry.path() / "plan.bin", error)) names.push_back(entry.path().filename());
  }
  return names;
}

}  // namespace

void add_running_options(CLI::App& command, RunningOptions& options) {
  command.add_option("name", options.name, "the topology's name")->required();
  command.add_option("--run-dir", options.run_dir, "its run directory, if not the default one");
  command.add_flag("--json", options.json, "the result as JSON; errors too");
}

void add_remote_options(CLI::App& command, RunningOptions& options) {
  RemoteOptions& remote = options.remote;
  CLI::Option* const at = command.add_option(
      "--at", remote.at, "tcp://HOST:PORT of its `control: { listen: }`, when it runs elsewhere");
  CLI::Option* const key = command.add_option(
      "--key", remote.key, "with --at: file with our secret key (millrace keys FILE)");
  CLI::Option* const server = command.add_option(
      "--server-key", remote.server_key, "with --at: file with the public key of its `key:`");
  at->needs(key)->needs(server)->excludes(command.get_option("--run-dir"));
  key->needs(at);
  server->needs(at);
}

ControlClient remote_supervisor(const RunningOptions& options) {
  constexpr std::chrono::milliseconds kAnswer{5000};
  const RemoteOptions& remote = options.remote;
  const auto at = host_and_port(remote.at);
  if (!at || at->ends_with(":0")) {
    throw Error("--at: found '" + remote.at + "'; allowed: tcp://HOST:PORT, port 1 to 65535");
  }
  const std::vector<std::string> server_keys = read_public_keys(remote.server_key);
  if (server_keys.size() != 1) throw Error(remote.server_key + ": more than one public key");
  ControlClient supervisor({remote.at, read_secret_key(remote.key), server_keys.front()});
  const auto status = supervisor.request_for<StatusReply>(StatusRequest{}, kAnswer);
  if (status.topology == options.name) return supervisor;
  throw Error("at " + remote.at + " runs topology '" + status.topology + "', not '" + options.name +
              "'");
}

std::string running_dir(const RunningOptions& options) {
  std::string run_dir = run_dir_of(options.name, options.run_dir);
  std::error_code error;
  const bool runs = fs::exists(plan_path(run_dir), error);
  if (error == std::errc::permission_denied) {
    throw Error("the topology in " + run_dir + " belongs to another user: run this as root");
  }
  if (runs) {
    const std::string name = topology_in(run_dir);
    if (name.empty() || name == options.name) return run_dir;
    throw Error("in " + run_dir + " runs topology '" + name + "', not '" + options.name + "'");
  }
  if (is_record(run_dir)) {
    throw Error("topology '" + options.name + "' has ended by itself; its logs in " + run_dir +
                " say why: millrace logs " + words_for_run(options.name, run_dir) + " supervisor");
  }
  std::string message = "topology '" + options.name + "' does not run: nothing in " + run_dir;
  const std::vector<std::string> names = names_beside(run_dir);
  for (std::size_t i = 0; i < names.size(); ++i) {
    message += (i == 0 ? "; these run: " : ", ") + names[i];
  }
  throw Error(message);
}

std::string recorded_dir(const RunningOptions& options) {
  std::string run_dir = run_dir_of(options.name, options.run_dir);
  return is_record(run_dir) ? run_dir : running_dir(options);
}

std::string how_to_go_on(pid_t supervisor, const std::string& run_dir) {
  const std::string pid = std::to_string(supervisor);
  return "if it is stopped: kill -CONT " + pid + "; else: kill -9 " + pid +
         ", then millrace adopt " + words_for_run(topology_in(run_dir), run_dir);
}

pid_t require_supervisor(const std::string& run_dir) {
  if (const pid_t pid = SupervisorLock::holder(run_dir); pid != 0) return pid;
  const std::string name = topology_in(run_dir);
  const std::string which = words_for_run(name.empty() ? "NAME" : name, run_dir);
  if (find_processes(run_dir).empty()) {
    throw Error("nothing runs in " + run_dir + " any more; clear what it left: millrace down " +
                which);
  }
  throw Error("what runs in " + run_dir + " has no supervisor; take it over: millrace adopt " +
              which + ", or end it: millrace down " + which);
}

bool wants_colour(int file) { return ::isatty(file) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace millrace
