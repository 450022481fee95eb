// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/capability.h>

#include <charconv>
#include <iterator>

#include "orchestration/doctor/doctor.hpp"

namespace millrace {
namespace {

struct KnownCapability {
  const char* name;
  unsigned bit;
};

/// Those that some port needs (io-worker/ports/README.md).
constexpr KnownCapability kCapabilities[] = {{"net_raw", CAP_NET_RAW},
                                             {"net_admin", CAP_NET_ADMIN},
                                             {"bpf", CAP_BPF},
                                             {"ipc_lock", CAP_IPC_LOCK}};

bool has(std::uint64_t effective, const std::string& name) {
  for (const KnownCapability& known : kCapabilities) {
    if (name == known.name) return (effective >> known.bit & 1) != 0;
  }
  return false;
}

std::string joined(const std::vector<std::string>& names, const std::string& prefix) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + prefix + name;
  return text;
}

}  // namespace

void examine_rights(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings) {
  const std::string mask = host.line("/proc/self/status", "CapEff").value_or("0");
  std::uint64_t effective = 0;
  std::from_chars(mask.data(), mask.data() + mask.size(), effective, 16);
  std::vector<std::string> there, missing;
  for (const KnownCapability& known : kCapabilities) {
    if (has(effective, known.name)) there.emplace_back(known.name);
  }
  for (const std::string& name : needs.capabilities) {
    if (!has(effective, name)) missing.push_back(name);
  }
  Finding finding{.check = "capabilities"};
  finding.found =
      there.empty() ? "none: enough for files and generated packets" : joined(there, "");
  if (!missing.empty()) {
    finding.health = Health::kProblem;
    finding.found = "missing for the ports of this topology: " + joined(missing, "");
    // The hub makes the interfaces of tap ports; io-workers open all others.
    const bool workers = !needs.tap || needs.capabilities.size() > 1;
    finding.mend = "run as root, or: sudo setcap " + joined(missing, "cap_") + "+ep" +
                   (needs.tap ? " <bin>/millrace-hub" : "") +
                   (workers ? " <bin>/millrace-io-worker" : "");
  }
  findings.push_back(finding);
}

}  // namespace millrace
