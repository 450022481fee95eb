// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io-worker/ports/interface.hpp"
#include "orchestration/doctor/host_files.hpp"
#include "shared/config/plan.hpp"

/// Looks at a host and says what a topology will find there. Each finding that is not in order
/// names the command that mends it. Looking changes nothing and needs no rights.

namespace millrace {

enum class Health : std::uint8_t {
  kGood,
  kNote,     ///< worth knowing; nothing needs it
  kWarning,  ///< it will run, slower or with less
  kProblem,  ///< it will not run
};

/// What `doctor --fix` may do by itself: nothing that takes a device from its user.
enum class Remedy : std::uint8_t { kNone, kHugePages, kMountHugetlbfs, kRemoveLeftovers };

struct Finding {
  std::string check;  ///< "huge pages", "interface wan0", ...
  Health health = Health::kGood;
  std::string found;
  std::string mend;  ///< a shell command, or what to do; empty when there is nothing to do
  Remedy remedy = Remedy::kNone;
  std::uint64_t amount = 0;  ///< kHugePages: how many there have to be in all
  /// kRemoveLeftovers: what to remove; kMountHugetlbfs: where to mount.
  std::vector<std::string> paths{};
};

/// Offloads of an interface by which a frame comes to a port as another one than was on the wire:
/// merged segments, checksums not filled in, VLAN tags beside it. They are in no file.
struct Offloads {
  std::vector<std::string> on;     ///< that taking the interface switches off
  std::vector<std::string> fixed;  ///< that stay on
};
/// Those that the port of this wish does not want (is_unwanted()).
Offloads offloads_of(const InterfaceWish& wish);

/// That of a port; messages call it by the port's name.
struct Mtu {
  std::string port;
  std::uint32_t bytes = 0;
};

/// What a topology needs of its host. Without one: what the smallest needs.
struct Needs {
  std::string topology;           ///< its name; what a run of it holds need not be free
  std::uint64_t huge_pages = 16;  ///< of 2 MB
  std::uint32_t actors = 0;       ///< that move packets
  bool cuda = false;
  std::vector<std::string> interfaces;              ///< of afpacket and afxdp ports
  std::map<std::string, Offloads> offloads;         ///< of interfaces that are there
  std::map<std::string, Mtu> mtus;                  ///< of their ports
  std::map<std::string, AddressTrouble> addresses;  ///< of interfaces, which are in no file
  std::vector<std::string> pci;                     ///< addresses of DPDK ports
  std::vector<std::string> capabilities;            ///< "net_raw", ...
  bool af_xdp = false;
  bool tap = false;
  bool dpdk = false;  ///< drivers of DPDK, which want a hugetlbfs
};
Needs needs_of(const Plan& plan);

/// All findings, in the order of the parts below.
std::vector<Finding> examine(const HostFiles& host, const Needs& needs);

// The parts.
void examine_processors(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings);
void examine_memory(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings);
void examine_control_group(const HostFiles& host, const Needs& needs,
                           std::vector<Finding>& findings);
void examine_rights(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings);
void examine_devices(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings);
void examine_leftovers(const HostFiles& host, std::vector<Finding>& findings);

/// Does what a remedy says, on this host. What there was before is noted in `state` for
/// `make undo` (orchestration/host/undo.sh). Returns what it did; throws Error when it could not.
std::string mend(const Finding& finding, const std::string& state);

}  // namespace millrace
