// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "orchestration/doctor/doctor.hpp"
#include "shared/base/huge_pages.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kStatusBytes = 16 << 20;  ///< a status file and room for another

/// Pages that a run of the topology has: it goes on with them, or they are free when it starts. Its
/// segment has no name but in the list of what a process has mapped.
std::uint64_t pages_of_topology(const HostFiles& host, const std::string& topology) {
  if (topology.empty()) return 0;
  const std::string name = "/memfd:millrace-" + topology + ".segment";
  for (const std::string& process : host.names("/proc")) {
    if (process.find_first_not_of("0123456789") != std::string::npos) continue;
    std::istringstream maps(host.text("/proc/" + process + "/maps").value_or(""));
    for (std::string line; std::getline(maps, line);) {
      std::uint64_t begin = 0, end = 0;
      char dash = 0;
      std::istringstream range(line);
      if (line.find(name) == std::string::npos) continue;
      if (range >> std::hex >> begin >> dash >> end) return (end - begin) / kHugePage;
    }
  }
  return 0;
}

Finding examine_pages(const HostFiles& host, const Needs& needs) {
  Finding finding{.check = "huge pages"};
  const auto pages = huge_pages(host.at("/"));
  if (!pages) {
    finding.health = Health::kProblem;
    finding.found = "this kernel has none of 2 MB";
    finding.mend = "boot with: hugepagesz=2M hugepages=" + std::to_string(needs.huge_pages);
    return finding;
  }
  const std::uint64_t held = pages_of_topology(host, needs.topology);
  finding.found = std::to_string(pages->total) + " of 2 MB, " + std::to_string(pages->free) +
                  " free, " + (held != 0 ? std::to_string(held) + " held by this topology, " : "") +
                  std::to_string(needs.huge_pages) + " needed";
  const std::uint64_t missing = needs.huge_pages - std::min(held, needs.huge_pages);
  if (pages->allowed < missing) {
    finding.health = Health::kProblem;
    finding.found += "; a limit allows " + std::to_string(pages->allowed) + " more";
    finding.mend = "raise " + pages->limit + ", the limit of this cgroup or container, by " +
                   std::to_string((missing - pages->allowed) * kHugePage) + " bytes";
  } else if (pages->free < missing) {
    finding.health = Health::kProblem;
    finding.remedy = Remedy::kHugePages;
    finding.amount = pages->total + missing - pages->free;
    finding.mend = "sysctl -w vm.nr_hugepages=" + std::to_string(finding.amount);
  }
  return finding;
}

/// Where a mount of 2 MB pages hides none of another size.
std::string place_of_mount(const HostFiles& host) {
  const auto taken = [&](const std::string& folder) {
    return std::ranges::any_of(mounts_of(host), [&](const Mount& mount) {
      return mount.type == "hugetlbfs" && mount.folder == folder;
    });
  };
  return taken("/dev/hugepages") ? "/dev/hugepages-2M" : "/dev/hugepages";
}

/// Only drivers of DPDK want it, beside the segment.
Finding examine_hugetlbfs(const HostFiles& host) {
  constexpr std::uint64_t kPagesOfDrivers = 8;
  Finding finding{.check = "hugetlbfs"};
  const auto mount = huge_mount(host.at("/"));
  if (!mount) {
    const std::string folder = place_of_mount(host);
    finding.health = Health::kProblem;
    finding.remedy = Remedy::kMountHugetlbfs;
    finding.paths = {folder};
    finding.found = "not mounted with 2 MB pages, which drivers of DPDK want";
    finding.mend = "mkdir -p " + folder + " && mount -t hugetlbfs -o pagesize=2M none " + folder;
    return finding;
  }
  finding.found = mount->folder;
  if (::access(host.at(mount->folder).c_str(), W_OK) != 0) {
    finding.health = Health::kProblem;
    finding.found += ", which this user may not write";
    finding.mend = "sudo chmod 1777 " + mount->folder + ", or run as root";
  } else if (mount->allowed < kPagesOfDrivers) {
    finding.health = Health::kProblem;
    finding.found += ", whose size allows " + std::to_string(mount->allowed) + " more pages; " +
                     std::to_string(kPagesOfDrivers) + " needed";
    finding.mend = "mount -o remount,size=512M " + mount->folder;
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
    finding.mend = "mount -o remount,size=256m /dev/shm (a container: --shm-size=256m)";
  }
  return finding;
}

}  // namespace

void examine_memory(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings) {
  findings.push_back(examine_pages(host, needs));
  if (needs.dpdk) findings.push_back(examine_hugetlbfs(host));
  findings.push_back(examine_locked(host, needs));
  findings.push_back(examine_shm(host));
}

}  // namespace millrace
