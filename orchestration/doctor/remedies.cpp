// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "io-worker/ports/interface.hpp"
#include "orchestration/doctor/doctor.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

constexpr const char* kPages = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

/// What was there before the first change is what `make undo` goes back to.
void remember(const std::string& state, const std::string& what, const std::string& value) {
  if (HostFiles().line(state, what + " ")) return;
  std::ofstream file(state, std::ios::app);
  file << what << ' ' << value << '\n';
  if (!file.flush()) throw system_error("write " + state, errno);
}

std::string reserve_pages(std::uint64_t wanted, const std::string& state) {
  const HostFiles host;
  const std::uint64_t before = host.number(kPages).value_or(0);
  remember(state, "nr_hugepages", std::to_string(before));
  std::ofstream file(kPages);
  file << wanted;
  if (!file.flush()) throw system_error(std::string("write ") + kPages, errno);
  const std::uint64_t after = host.number(kPages).value_or(0);
  if (after < wanted) {
    throw Error("memory gave only " + std::to_string(after) + " of " + std::to_string(wanted) +
                " huge pages: echo 1 > /proc/sys/vm/compact_memory, then try again");
  }
  return "reserved " + std::to_string(after - before) + " huge pages (had " +
         std::to_string(before) + ")";
}

std::string mount_hugetlbfs(const std::string& folder, const std::string& state) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (::mount("none", folder.c_str(), "hugetlbfs", 0, "pagesize=2M") != 0) {
    throw system_error("mount hugetlbfs at " + folder, errno);
  }
  remember(state, "mounted", folder);
  return "mounted hugetlbfs at " + folder;
}

/// Name of the topology that a leftover is of, NAME of "millrace-NAME.segment"; it has no dots.
std::string topology_of(const fs::path& path) {
  const std::string prefix = "millrace-";
  std::string name = path.filename();
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name.substr(0, name.find('.'));
}

std::string remove_leftovers(const std::vector<std::string>& paths) {
  std::size_t removed = 0;
  for (const std::string& path : paths) {
    const std::string topology = topology_of(path);
    // Another command may be starting it at this moment.
    if (SupervisorLock::holder(default_run_dir(topology)) != 0) continue;
    std::error_code error;
    // What was done to them stands nowhere else.
    if (fs::is_directory(path, error)) give_back_interfaces(path);
    fs::remove_all(path, error);
    if (error) throw Error("remove " + path + ": " + error.message());
    ++removed;
  }
  return "removed " + std::to_string(removed) + " of " + std::to_string(paths.size()) +
         " files of killed runs";
}

}  // namespace

std::string mend(const Finding& finding, const std::string& state) {
  switch (finding.remedy) {
    case Remedy::kHugePages:
      return reserve_pages(finding.amount, state);
    case Remedy::kMountHugetlbfs:
      return mount_hugetlbfs(finding.paths.at(0), state);
    case Remedy::kRemoveLeftovers:
      return remove_leftovers(finding.paths);
    case Remedy::kNone:
      break;
  }
  throw Error(finding.check + ": nothing that could be done without asking");
}

}  // namespace millrace
