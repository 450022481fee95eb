// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "io-worker/ports/taken.hpp"
#include "services/telemetry/kernel_link.hpp"
#include "services/telemetry/status_metrics.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

/// The state of a port's link; nothing if it is not known: a file has no link.
std::optional<LinkState> state_of(const StatusSource& source, std::uint32_t number,
                                  const std::string& interface, const std::string& run_dir) {
  if (!interface.empty()) return read_kernel_link(name_now(run_dir, interface));
  const PortTally& tally = source.status.port(number);
  if (tally.known.load(std::memory_order_acquire) == 0) return std::nullopt;
  return LinkState{.up = tally.up.load(std::memory_order_relaxed) != 0,
                   .bytes_per_second = tally.bytes_per_second.load(std::memory_order_relaxed)};
}

}  // namespace

void add_ports(const StatusSource& source, const std::string& run_dir, Families& families) {
  for (std::uint32_t number = 0; number < source.plan.ports.size(); ++number) {
    const PlanPort& port = source.plan.ports[number];
    const std::string interface = is_dpdk(port) ? "" : setting_of(port.settings, "interface");
    families.add(Metric::kPortInfo, {port.name, port.device, interface}, 1);
    families.add(Metric::kPortMtu, {port.name}, port.mtu);
    const std::optional<LinkState> state = state_of(source, number, interface, run_dir);
    if (!state) continue;
    families.add(Metric::kPortUp, {port.name}, state->up ? 1 : 0);
    if (state->up && state->bytes_per_second != 0) {
      families.add(Metric::kPortSpeed, {port.name}, static_cast<double>(state->bytes_per_second));
    }
  }
}

}  // namespace millrace
