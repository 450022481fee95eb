// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/doctor/doctor.hpp"

namespace millrace {
namespace {

bool has_word(const std::string& text, const std::string& word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

Finding examine_clock(const HostFiles& host) {
  const std::string flags = host.line("/proc/cpuinfo", "flags").value_or("");
  const bool steady = has_word(flags, "constant_tsc") && has_word(flags, "nonstop_tsc");
  Finding finding{.check = "time stamp counter", .found = "steady"};
  if (!steady) {
    finding.health = Health::kWarning;
    finding.found =
        "changes its pace or stops in deep sleep: latencies and offered rates are wrong";
    finding.mend = "boot with: processor.max_cstate=1 intel_idle.max_cstate=0";
  }
  return finding;
}

Finding examine_cores(const HostFiles& host, const Needs& needs) {
  const std::string allowed = host.line("/proc/self/status", "Cpus_allowed_list").value_or("");
  const std::size_t count = count_of_list(allowed);
  Finding finding{.check = "cores"};
  finding.found = std::to_string(count) + " may be used (" + allowed + ")";
  if (needs.actors != 0 && needs.actors + 1 > count) {
    finding.health = Health::kNote;
    finding.found += ", " + std::to_string(needs.actors) +
                     " actors move packets: they share and sleep when idle";
    finding.mend = "for full speed: " + std::to_string(needs.actors + 1) +
                   " cores, or fewer workers and streams";
  }
  return finding;
}

Finding examine_isolation(const HostFiles& host) {
  const std::string isolated = host.text("/sys/devices/system/cpu/isolated").value_or("");
  Finding finding{.check = "isolated cores"};
  finding.found =
      isolated.empty() ? "none: other work of this host shows in the latency" : isolated;
  if (isolated.empty()) {
    finding.health = Health::kNote;
    finding.mend = "for the lowest latency boot with: isolcpus=LIST nohz_full=LIST";
  }
  return finding;
}

void examine_governor(const HostFiles& host, std::vector<Finding>& findings) {
  const auto governor = host.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor) return;  // virtual machines have none
  Finding finding{.check = "frequency governor", .found = *governor};
  if (*governor != "performance") {
    finding.health = Health::kWarning;
    finding.mend = "cpupower frequency-set -g performance";
  }
  findings.push_back(finding);
}

Finding examine_randomization(const HostFiles& host) {
  const std::string mode = host.text("/proc/sys/kernel/randomize_va_space").value_or("?");
  return {.check = "address randomization",
          .found = mode + ": may stay as it is, the segment has an address of its own"};
}

Finding examine_nodes(const HostFiles& host) {
  std::size_t nodes = 0;
  std::string pages;
  for (const std::string& name : host.names("/sys/devices/system/node")) {
    if (!name.starts_with("node") || name.find_first_of("0123456789") != 4) continue;
    const auto free = host.number("/sys/devices/system/node/" + name +
                                  "/hugepages/hugepages-2048kB/free_hugepages");
    pages += (nodes == 0 ? "" : ", ") + name + " " + std::to_string(free.value_or(0)) + " free";
    ++nodes;
  }
  Finding finding{.check = "NUMA nodes", .found = std::to_string(nodes == 0 ? 1 : nodes)};
  if (nodes > 1) finding.found += "; huge pages: " + pages;
  return finding;
}

}  // namespace

void examine_processors(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings) {
  findings.push_back(examine_clock(host));
  findings.push_back(examine_cores(host, needs));
  findings.push_back(examine_isolation(host));
  examine_governor(host, findings);
  findings.push_back(examine_randomization(host));
  findings.push_back(examine_nodes(host));
}

}  // namespace millrace
