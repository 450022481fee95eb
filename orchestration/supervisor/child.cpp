// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::size_t kOutputMax = std::size_t{1} << 20;

/// Owner of what posix_spawn is told to do in the child.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A group of its own: Ctrl-C at the terminal is for the supervisor, which stops in order.
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&files_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void connect(const std::string& log_path, int output, int segment) {
    ::posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files_, 2, log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&files_, output >= 0 ? output : 2, 1);
    if (segment >= 0) ::posix_spawn_file_actions_adddup2(&files_, segment, kSegmentFd);
    ::posix_spawn_file_actions_addclosefrom_np(&files_, kSegmentFd + (segment >= 0 ? 1 : 0));
  }

  pid_t start(const Command& command) {
    std::vector<std::string> words = {command.program};
    words.insert(words.end(), command.arguments.begin(), command.arguments.end());
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, command.program.c_str(), &files_, &attributes_,
                                    arguments.data(), environ);
    if (error != 0) throw system_error("start " + command.program, error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

ExitStatus reap(int process) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(process);
  while (::waitid(P_PIDFD, id, &info, WEXITED) != 0) {
    if (errno != EINTR) return {.known = false};
  }
  if (info.si_code == CLD_EXITED) return {.code = info.si_status};
  return {.signal = info.si_status};
}

}  // namespace

std::string ExitStatus::text() const {
  if (!known) return "ended";
  if (signal == 0) return "exited with " + std::to_string(code);
  const char* name = ::sigdescr_np(signal);
  return "killed by signal " + std::to_string(signal) + " (" + (name != nullptr ? name : "?") + ")";
}

Child Child::start(const Command& command, const std::string& log_path, int output) {
  SpawnPlan spawn;
  spawn.connect(log_path, output, command.segment);
  const pid_t pid = spawn.start(command);
  // Only this process reaps it, so the pid is still its own.
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) throw system_error("pidfd of " + command.program, errno);
  return {pid, process_start_time(pid), std::move(process), true};
}

std::optional<Child> Child::adopt(pid_t pid, std::uint64_t start_time) {
  UniqueFd process = open_process(pid, start_time);
  if (!process || process_ended(process)) return std::nullopt;
  return Child(pid, start_time, std::move(process), false);
}

std::optional<ExitStatus> Child::ended() { return wait(0); }

std::optional<ExitStatus> Child::wait(int timeout_ms) {
  if (end_) return end_;
  pollfd item{process_.get(), POLLIN, 0};
  if (::poll(&item, 1, timeout_ms) != 1) return std::nullopt;
  end_ = ours_ ? reap(process_.get()) : ExitStatus{.known = false};
  return end_;
}

void Child::signal(int number) const {
  // ESRCH: it has ended, which is what any signal of ours is for.
  ::syscall(SYS_pidfd_send_signal, process_.get(), number, nullptr, 0);
}

Captured run_and_capture(const Command& command, const std::string& log_path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe to " + command.program, errno);
  const UniqueFd output(ends[0]);
  std::optional<Child> child;
  {
    const UniqueFd input(ends[1]);
    child = Child::start(command, log_path, input.get());
  }
  Captured captured;
  char piece[4096];
  for (;;) {
    const ssize_t got = ::read(output.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    MILLRACE_CHECK(captured.output.size() <= kOutputMax);
    const std::size_t room = kOutputMax - captured.output.size();
    captured.output.append(piece, std::min(static_cast<std::size_t>(got), room));
  }
  captured.end = *child->wait(-1);
  return captured;
}

}  // namespace millrace
