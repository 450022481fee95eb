// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/doctor/doctor.hpp"
#include "shared/base/huge_pages.hpp"
#include "shared/control/discovery_file.hpp"
#include "shared/control/run_files.hpp"

/// Files of topologies that were killed whole. One belongs to a living run when a process has it
/// mapped, or works in it.

namespace millrace {
namespace {

bool is_pid(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// What processes have mapped, and their command lines.
struct Used {
  std::string text;
  bool whole = true;  ///< false: we may not see what some process of ours has mapped
};

Used used_by_processes(const HostFiles& host) {
  Used used;
  for (const std::string& name : host.names("/proc")) {
    if (!is_pid(name)) continue;
    const auto maps = host.text("/proc/" + name + "/maps");
    std::string command = host.text("/proc/" + name + "/cmdline").value_or("");
    if (!maps && command.find("millrace") != std::string::npos) used.whole = false;
    std::ranges::replace(command, '\0', '\n');
    used.text += maps.value_or("") + "\n" + command + "\n";
  }
  return used;
}

/// What shows that a file is in use: its own path, in a folder of shared memory that of any file of
/// its topology ("millrace-NAME.", names have no dots). A table may be without a user for a
/// moment, while the only worker that had it is started again.
std::string sign_of_use(const std::string& folder, const std::string& name) {
  const std::size_t dot = folder == "/run/millrace" ? std::string::npos : name.find('.');
  return folder + "/" + (dot == std::string::npos ? name : name.substr(0, dot + 1));
}

void add_unused(const HostFiles& host, const std::string& folder, const std::string& used,
                std::vector<std::string>& paths) {
  for (const std::string& name : host.names(folder)) {
    const std::string path = folder + "/" + name;
    const bool ours = name.starts_with("millrace") || folder == "/run/millrace";
    const bool discovery = path.ends_with(kDiscoveryEnding);
    const std::string owner =
        discovery ? path.substr(0, path.rfind(kDiscoveryEnding)) : sign_of_use(folder, name);
    // What the next `up` needs to turn it off, and what Prometheus tells of it meanwhile.
    const bool bypass = name.find(kBypassEnding) != std::string::npos;
    const bool told = discovery && host.text(owner + std::string(kBypassEnding));
    // Of a run that ended by itself, to be read (Keep::kRecord).
    const bool record = host.exists(path + "/history/list") && !host.exists(plan_path(path)) &&
                        !host.exists(path + "/plan.bin.plan");
    if (bypass || told || record) continue;
    if (ours && used.find(owner) == std::string::npos) paths.push_back(path);
  }
}

}  // namespace

void examine_leftovers(const HostFiles& host, std::vector<Finding>& findings) {
  const auto [used, whole] = used_by_processes(host);
  Finding finding{.check = "files of killed runs", .found = "none"};
  const auto mount = huge_mount(host.at("/"));
  if (mount) add_unused(host, mount->folder, used, finding.paths);
  for (const char* folder : {"/dev/shm", "/run/millrace", "/run/dpdk"}) {
    add_unused(host, folder, used, finding.paths);
  }
  if (!finding.paths.empty() && !whole) {
    finding.health = Health::kNote;
    finding.found = "cannot be told from those of other users' processes";
    finding.mend = "run this as root";
    finding.paths.clear();
  }
  if (!finding.paths.empty()) {
    finding.health = Health::kWarning;
    finding.remedy = Remedy::kRemoveLeftovers;
    finding.found.clear();
    // No `rm`: what a run directory says of interfaces is what they are given back by.
    finding.mend = "millrace doctor --fix";
    for (const std::string& path : finding.paths) {
      finding.found += (finding.found.empty() ? "" : ", ") + path;
    }
  }
  findings.push_back(finding);
}

}  // namespace millrace
