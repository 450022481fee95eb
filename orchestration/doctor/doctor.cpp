// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/doctor/doctor.hpp"

#include <algorithm>

#include "orchestration/planner/plan_printer.hpp"
#include "shared/base/limits.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::ranges::find(list, word) == list.end()) list.push_back(word);
}

void add_port(const PlanPort& port, Needs& needs) {
  const bool kernel = port.device == "afpacket" || port.device == "afxdp";
  if (kernel) {
    needs.interfaces.push_back(setting_of(port.settings, "interface"));
    needs.mtus[needs.interfaces.back()] = {port.name, port.mtu};
    for (const char* name : {"net_raw", "net_admin"}) add_once(needs.capabilities, name);
  }
  if (port.device == "afxdp") {
    needs.af_xdp = true;
    for (const char* name : {"bpf", "ipc_lock"}) add_once(needs.capabilities, name);
  }
  if (port.device == "tap") {
    needs.tap = true;
    add_once(needs.capabilities, "net_admin");
  }
  if (port.device == "dpdk") {
    needs.dpdk = true;
    // A device address is domain:bus:device.function, whatever follows it in the devargs.
    const std::string address = setting_of(port.settings, "devargs").substr(0, 12);
    if (address.size() == 12 && address[4] == ':' && address[7] == ':')
      needs.pci.push_back(address);
  }
}

}  // namespace

Needs needs_of(const Plan& plan) {
  Needs needs;
  needs.topology = plan.name;
  needs.huge_pages = plan_memory(plan).total / kHugePage;
  for (const PlanActor& actor : plan.actors) {
    const bool moves = actor.kind != ActorKind::kHub && actor.kind != ActorKind::kStandby;
    needs.actors += actor.at_start && moves ? 1 : 0;
  }
  if (plan.fused) needs.actors = 1;  // one process and thread is all of them
  for (const PlanGroup& group : plan.groups) {
    const std::string device = setting_of(group.settings, "device");
    needs.cuda |= group.kind == GroupKind::kGpu && device == "cuda";
  }
  for (const PlanPort& port : plan.ports) add_port(port, needs);
  return needs;
}

std::vector<Finding> examine(const HostFiles& host, const Needs& needs) {
  std::vector<Finding> findings;
  examine_processors(host, needs, findings);
  examine_memory(host, needs, findings);
  examine_control_group(host, needs, findings);
  examine_rights(host, needs, findings);
  examine_devices(host, needs, findings);
  examine_leftovers(host, findings);
  return findings;
}

}  // namespace millrace
