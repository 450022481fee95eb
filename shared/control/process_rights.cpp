// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/process_rights.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

constexpr Capabilities kDpdk = capability(CAP_NET_ADMIN) | capability(CAP_NET_RAW) |
                               capability(CAP_IPC_LOCK) | capability(CAP_SYS_RAWIO) |
                               capability(CAP_BPF);

constexpr unsigned kFreePortMin = 1024;  ///< those below are root's

}  // namespace

Capabilities capabilities_of(const Plan& plan, const PlanActor& actor) {
  MILLRACE_CHECK(actor.kind != ActorKind::kIngress || actor.index < plan.streams.size());
  switch (actor.kind) {
    case ActorKind::kHub:
    case ActorKind::kEgress:
      return uses_dpdk(plan) ? kDpdk : 0;
    case ActorKind::kIngress:
      return is_dpdk(plan.ports.at(plan.streams.at(actor.index).port)) ? kDpdk : 0;
    case ActorKind::kStandby:
    case ActorKind::kClassifier:
    case ActorKind::kGpu:
      return 0;
  }
  return 0;
}

Capabilities capabilities_of_telemetry(const Plan& plan) {
  const std::string& listen = plan.telemetry_listen;
  unsigned port = 0;
  const char* const end = listen.data() + listen.size();
  const char* const digits = listen.data() + listen.rfind(':') + 1;  // npos: from the start
  std::from_chars(digits, end, port);
  return port != 0 && port < kFreePortMin ? capability(CAP_NET_BIND_SERVICE) : 0;
}

SystemCalls system_calls_of(const Plan& plan, const PlanActor& actor) {
  MILLRACE_CHECK(!is_of_group(actor.kind) || actor.group < plan.groups.size());
  const bool dpdk = capabilities_of(plan, actor) != 0;
  switch (actor.kind) {
    case ActorKind::kHub:
    case ActorKind::kStandby:
      return {.network = true, .processes = true, .driver = dpdk};
    case ActorKind::kIngress:
    case ActorKind::kEgress:
      return {.network = true, .driver = dpdk};
    case ActorKind::kClassifier:
      return {.network = plan.fused};
    case ActorKind::kGpu:
      return {.driver = gpu_of_worker(plan.groups.at(actor.group), actor.index).has_value()};
  }
  return {};
}

SystemCalls system_calls_of_telemetry(const Plan& plan) {
  const bool nvml = std::ranges::any_of(plan.groups, [](const PlanGroup& group) {
    return group.kind == GroupKind::kGpu && gpu_of_worker(group, 0);
  });
  return {.network = true, .driver = nvml};
}

void give_up_capabilities(Capabilities keep, const std::string& run_dir) {
  keep_capabilities(keep);
  if (::faccessat(AT_FDCWD, run_dir.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) == 0) return;
  throw Error("the run directory " + run_dir + " is out of reach for user " +
              std::to_string(::geteuid()) +
              " without CAP_DAC_OVERRIDE, which no process that moves packets keeps; allowed: one "
              "that this user owns, below directories that it may enter: --run-dir /run/millrace/" +
              run_dir.substr(run_dir.rfind('/') + 1));
}

}  // namespace millrace
