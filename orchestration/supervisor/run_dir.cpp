// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/run_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>

#include "io-worker/ports/interface.hpp"
#include "orchestration/planner/sections.hpp"
#include "services/functions/image_file.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/base/run_words.hpp"
#include "shared/config/observers.hpp"
#include "shared/control/discovery_file.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/watch/watch_file.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

std::vector<std::string> command_line(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// False also for one that has ended and was not waited for.
bool has_life(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const std::size_t state = line.rfind(')') + 2;  // behind the command, which may hold anything
  return state < line.size() && line[state] != 'Z' && line[state] != 'X';
}

template <class Number>
bool parse(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

/// The value of `--option value` or `--option=value`; empty when it is not there.
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == option && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return "";
}

std::optional<FoundProcess> look_at(pid_t pid) {
  FoundProcess found{.pid = pid, .start_time = process_start_time(pid)};
  const std::vector<std::string> words = command_line(pid);
  if (words.empty() || found.start_time == 0) return std::nullopt;
  found.program = fs::path(words[0]).filename();
  // The supervisor itself is `millrace`: it is known by its lock.
  if (!found.program.starts_with("millrace-")) return std::nullopt;
  found.run_dir = value_of(words, "--run-dir");
  if (found.run_dir.empty()) return std::nullopt;
  if (!parse(value_of(words, "--actor"), found.actor)) found.actor = -1;
  found.successor = std::ranges::find(words, "--successor") != words.end();
  return found;
}

template <class Wanted>
std::vector<FoundProcess> find_where(Wanted&& wanted) {
  std::vector<FoundProcess> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    pid_t pid = 0;
    if (!parse(entry.path().filename().string(), pid)) continue;
    auto process = look_at(pid);
    if (process && wanted(*process)) found.push_back(*process);
  }
  return found;
}

std::string lock_path(const std::string& run_dir) { return run_dir + "/supervisor.lock"; }

void remove_images_of(const std::string& plan_path) noexcept {
  try {
    const Plan plan = load_plan(plan_path);
    for (const PlanFunction& function : plan.functions) {
      if (function.image.empty()) continue;
      remove_image(function.image);
      remove_image(image_of_edition(function.image, kCheckedEdition));  // its command was killed
    }
    for (const PlanEdition& other : plan.others) {
      if (!other.function.image.empty()) remove_image(other.function.image);
    }
  } catch (const Error&) {
    // No plan, or none of this build: then its images cannot be known.
  }
}

void remove_images(const std::string& run_dir) noexcept {
  remove_images_of(plan_path(run_dir));
  remove_images_of(next_plan_path(run_dir));  // a supervisor died while tables were built
}

}  // namespace

std::string next_plan_path(const std::string& run_dir) { return run_dir + "/plan.bin.next"; }

std::string run_dir_of(const std::string& name, const std::string& given) {
  if (given.empty() && !is_name(name)) {
    const std::string shown =
        name.substr(0, 2 * kNameBytesMax) + (name.size() > 2 * kNameBytesMax ? "..." : "");
    throw Error("'" + shown + "' is no name of a topology; allowed: " + std::string(kNameRule));
  }
  // Processes are known by this path: it must be one, whatever links lead there.
  const std::string path =
      fs::weakly_canonical(fs::absolute(given.empty() ? default_run_dir(name) : given)).string();
  return path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
}

std::vector<FoundProcess> find_processes(const std::string& run_dir) {
  return find_where([&](const FoundProcess& process) { return process.run_dir == run_dir; });
}

std::optional<FoundProcess> find_namesake(const std::string& run_dir, const std::string& topology) {
  const auto found = find_where([&](const FoundProcess& process) {
    return process.run_dir != run_dir && topology_in(process.run_dir) == topology;
  });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::string topology_in(const std::string& run_dir) {
  try {
    return load_plan(plan_path(run_dir)).name;
  } catch (const Error&) {
    return "";
  }
}

void refuse_foreign_dir(const std::string& run_dir) {
  std::error_code error;  // what cannot be read is told by its maker
  if (!fs::exists(run_dir, error) || fs::is_empty(run_dir, error) || error) return;
  for (const std::string& known : {plan_path(run_dir), lock_path(run_dir), run_dir + "/logs"}) {
    if (fs::exists(known, error)) return;
  }
  throw Error(run_dir +
              " holds other files and is no run directory; name an empty one: --run-dir DIR");
}

void make_run_dir(const std::string& run_dir) {
  constexpr int kAttempts = 100;  // a clean-up may remove it in between
  std::error_code error;
  for (int i = 0; i < kAttempts; ++i) {
    // Prometheus looks for what lies beside run directories, however strict the umask is.
    const bool first =
        fs::path(run_dir).parent_path() == kRunDirs && fs::create_directories(kRunDirs, error);
    if (first) fs::permissions(kRunDirs, fs::perms(0755), error);
    fs::create_directories(run_dir + "/logs", error);
    if (!error) fs::permissions(run_dir, fs::perms::owner_all, error);
    if (error != std::errc::no_such_file_or_directory) break;
  }
  if (error) throw Error("make run directory " + run_dir + ": " + error.message());
}

void clean_run_dir(const std::string& run_dir, const std::string& topology, Keep keep) {
  give_back_interfaces(run_dir);
  remove_images(run_dir);
  destroy_shared_memory(topology);
  remove_watches(topology, true);
  ::unlink(discovery_path(run_dir).c_str());
  std::error_code error;  // what is not there need not be removed
  std::vector<fs::path> ours;
  for (const fs::directory_entry& entry : fs::directory_iterator(run_dir, error)) {
    const std::string name = entry.path().filename();
    const bool observes = std::ranges::any_of(kObservers, [&](const ObserverKind& observer) {
      return name.starts_with(std::string(observer.name) + ".");
    });
    const bool known = observes || name.starts_with("plan.bin") || name.starts_with("control.") ||
                       name.starts_with("files.") || name.starts_with("waiting.") ||
                       name == "hub.ready" || name == "layout" ||
                       (name.starts_with("supervisor.") && name != "supervisor.lock") ||
                       name == "stopping";  // of older builds, as some "supervisor." are
    const bool recorded = name == "history" || name == "lost.pcapng" || name == "lost.1.pcapng";
    if (known || (recorded && keep != Keep::kRecord) || (name == "logs" && keep == Keep::kNothing))
      ours.push_back(entry.path());
  }
  for (const fs::path& path : ours) fs::remove_all(path, error);
}

bool is_record(const std::string& run_dir) {
  std::error_code error;  // what cannot be seen is nothing to us
  const auto has = [&](const std::string& path) { return fs::exists(path, error); };
  // A planned restart that was killed leaves a plan besides (last_run.hpp), and has no owner.
  return has(run_dir + "/history/list") && !has(plan_path(run_dir)) &&
         !has(plan_path(run_dir) + ".plan");
}

void remove_run_dir(const std::string& run_dir, const std::string& topology) {
  clean_run_dir(run_dir, topology, Keep::kNothing);
  ::unlink(lock_path(run_dir).c_str());
  std::error_code error;  // not empty: what is left is none of ours
  fs::remove(run_dir, error);
}

void remove_empty_run_dir(const std::string& run_dir) {
  std::error_code error;  // what cannot be read or removed stays
  for (const fs::directory_entry& entry : fs::directory_iterator(run_dir, error)) {
    const bool lock = entry.path() == lock_path(run_dir);
    const bool no_logs = entry.path().filename() == "logs" && fs::is_empty(entry.path(), error);
    if (!lock && !no_logs) return;
  }
  if (error) return;
  fs::remove(run_dir + "/logs", error);
  ::unlink(lock_path(run_dir).c_str());
  fs::remove(run_dir, error);
}

std::size_t remove_dead_beside(const std::string& run_dir) {
  std::vector<std::string> beside;
  std::error_code error;  // the first topology of this host: nothing is there
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(run_dir).parent_path(), error)) {
    if (entry.is_directory(error) && entry.path() != run_dir) beside.push_back(entry.path());
  }
  std::size_t removed = 0;
  for (const std::string& other : beside) {
    const auto lock = SupervisorLock::attempt(other);
    if (!lock || is_record(other) || !find_processes(other).empty()) continue;
    const std::string topology = fs::path(other).filename();
    if (find_namesake(other, topology)) continue;  // shared memory of this name is in use
    remove_run_dir(other, topology);
    ++removed;
  }
  return removed;
}

std::optional<SupervisorLock> SupervisorLock::attempt(const std::string& run_dir) {
  for (;;) {
    make_run_dir(run_dir);
    UniqueFd file(::open(lock_path(run_dir).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file && errno == ENOENT) continue;  // removed since
    if (!file) throw system_error("open " + lock_path(run_dir), errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    struct stat info {};
    // Its owner before may have removed the file: then it is a lock on nothing.
    if (::fstat(file.get(), &info) == 0 && info.st_nlink != 0) {
      return SupervisorLock(std::move(file));
    }
  }
}

SupervisorLock::SupervisorLock(const std::string& run_dir) {
  constexpr int kAttempts = 500;
  constexpr auto kPause = std::chrono::milliseconds(10);
  std::optional<SupervisorLock> got = attempt(run_dir);
  for (int i = 1; i < kAttempts && !got; ++i) {
    const pid_t pid = holder(run_dir);
    if (pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM)) break;
    std::this_thread::sleep_for(kPause);
    got = attempt(run_dir);
  }
  if (!got) {
    throw Error("a supervisor (pid " + std::to_string(holder(run_dir)) + ") already runs in " +
                run_dir + "; end it with millrace down, or name another: --run-dir DIR");
  }
  file_ = std::move(got->file_);
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file_.get(), 0) != 0 || ::write(file_.get(), pid.data(), pid.size()) < 0) {
    throw system_error("write " + lock_path(run_dir), errno);
  }
}

pid_t SupervisorLock::holder(const std::string& run_dir) {
  constexpr int kAttempts = 50;
  constexpr auto kPause = std::chrono::milliseconds(10);
  pid_t pid = 0;
  for (int i = 0; i < kAttempts; ++i) {
    const UniqueFd file(::open(lock_path(run_dir).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return 0;
    std::ifstream text(lock_path(run_dir));
    pid = -1;  // it has the lock and has not written its pid yet
    text >> pid;
    if (pid > 0 && has_life(pid)) return pid;
    // One that ends has it until its last thread has gone. Or a command looks whether it can be
    // cleaned up, or begins.
    std::this_thread::sleep_for(kPause);
  }
  return pid;
}

bool is_in_use(const std::string& run_dir) {
  return SupervisorLock::holder(run_dir) != 0 || !find_processes(run_dir).empty();
}

}  // namespace millrace
