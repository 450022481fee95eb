// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include "orchestration/doctor/doctor.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

constexpr const char* kHugepages = "/sys/kernel/mm/hugepages/hugepages-2048kB";
constexpr std::uint64_t kStatusBytes = 16 << 20;  ///< a status file and room for another

/// Pages that a run of the topology has: it goes on with them, or they are free when it starts.
std::uint64_t pages_of_topology(const HostFiles& host, const std::string& topology) {
  constexpr std::uint64_t kBlock = 512;  // of st_blocks
  const auto mount = huge_mount(host);
  if (!mount || topology.empty()) return 0;
  struct stat segment {};
  const auto path = host.at(mount->folder + "/millrace-" + topology + ".segment");
  if (::stat(path.c_str(), &segment) != 0) return 0;
  return static_cast<std::uint64_t>(segment.st_blocks) * kBlock / kHugePage;
}

Finding examine_pages(const HostFiles& host, const Needs& needs) {
  const std::string folder = kHugepages;
  const auto total = host.number(folder + "/nr_hugepages");
  const auto free = host.number(folder + "/free_hugepages");
  Finding finding{.check = "huge pages"};
  if (!total || !free) {
    finding.health = Health::kProblem;
    finding.found = "this kernel has none of 2 MB";
    finding.mend = "boot with: hugepagesz=2M hugepages=" + std::to_string(needs.huge_pages);
    return finding;
  }
  const std::uint64_t held = pages_of_topology(host, needs.topology);
  finding.found = std::to_string(*total) + " of 2 MB, " + std::to_string(*free) + " free, " +
                  (held != 0 ? std::to_string(held) + " held by this topology, " : "") +
                  std::to_string(needs.huge_pages) + " needed";
  if (*free + held >= needs.huge_pages) return finding;
  finding.health = Health::kProblem;
  finding.remedy = Remedy::kHugePages;
  finding.amount = *total + needs.huge_pages - *free - held;
  finding.mend = "sysctl -w vm.nr_hugepages=" + std::to_string(finding.amount);
  return finding;
}

Finding examine_hugetlbfs(const HostFiles& host) {
  Finding finding{.check = "hugetlbfs"};
  const auto mount = huge_mount(host);
  if (!mount) {
    finding.health = Health::kProblem;
    finding.remedy = Remedy::kMountHugetlbfs;
    finding.found = "not mounted with 2 MB pages";
    finding.mend =
        "mkdir -p /dev/hugepages && mount -t hugetlbfs -o pagesize=2M none /dev/hugepages";
    return finding;
  }
  finding.found = mount->folder;
  if (::access(host.at(mount->folder).c_str(), W_OK) != 0) {
    finding.health = Health::kProblem;
    finding.found += ", which this user may not write";
    finding.mend = "sudo chmod 1777 " + mount->folder + ", or run as root";
  }
  return finding;
}

Finding examine_locked(const HostFiles& host, const Needs& needs) {
  const auto words =
      words_of(host.line("/proc/self/limits", "Max locked memory").value_or("unlimited"));
  const std::uint64_t wanted = needs.huge_pages * (2 << 20);
  Finding finding{.check = "locked memory", .found = "at most " + words[0]};
  const bool enough = words[0] == "unlimited" || std::stoull(words[0]) >= wanted;
  if (words[0] != "unlimited") finding.found += " bytes";
  if (!enough && needs.af_xdp) {
    finding.health = Health::kWarning;
    finding.found += "; AF_XDP pins " + std::to_string(wanted) + " (root and ipc_lock are exempt)";
    finding.mend = "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit";
  }
  return finding;
}

Finding examine_shm(const HostFiles& host) {
  Finding finding{.check = "/dev/shm"};
  std::error_code error;
  const auto space = std::filesystem::space(host.at("/dev/shm"), error);
  if (error) {
    finding.health = Health::kProblem;
    finding.found = "not there";
    finding.mend = "mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm";
    return finding;
  }
  finding.found = std::to_string(space.available >> 20) + " MB free";
  if (space.available < kStatusBytes) {
    finding.health = Health::kProblem;
    finding.mend = "mount -o remount,size=256m /dev/shm";
  }
  return finding;
}

}  // namespace

void examine_memory(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings) {
  findings.push_back(examine_pages(host, needs));
  findings.push_back(examine_hugetlbfs(host));
  findings.push_back(examine_locked(host, needs));
  findings.push_back(examine_shm(host));
}

}  // namespace millrace
