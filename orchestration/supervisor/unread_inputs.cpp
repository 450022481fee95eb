// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/unread_inputs.hpp"

namespace millrace {
namespace {

/// The capture that a port reads; empty: it reads none.
std::string capture_of(const PlanPort& port) {
  for (const auto& [key, value] : port.settings) {
    if (port.device == "pcap" && key == "in") return value;
    if (port.device == "replay" && key == "file") return value;
  }
  return {};
}

}  // namespace

std::vector<UnreadInput> unread_inputs(
    const Plan& plan, const std::function<std::uint64_t(std::uint32_t actor)>& errors_of) {
  std::vector<UnreadInput> inputs;
  for (const PlanStream& stream : plan.streams) {
    const PlanPort& port = plan.ports[stream.port];
    const std::string capture = capture_of(port);
    // The queues of a port read the same file.
    const bool told = !inputs.empty() && inputs.back().port == port.name;
    if (capture.empty() || told || errors_of(stream.ingress) == 0) continue;
    inputs.push_back({port.name, capture});
  }
  return inputs;
}

}  // namespace millrace
