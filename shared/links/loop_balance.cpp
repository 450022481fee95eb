// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/links/loop_balance.hpp"

#include "shared/config/loop.hpp"

namespace millrace {

LoopBalance loop_balance(const Plan& plan, const StatusView& status, std::uint32_t port) {
  LoopBalance balance;
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    for (const std::uint32_t lane : lanes_of(plan, plan.streams[stream])) {
      balance.sent += read_record(status.ledger(stream, lane)).transmitted[port];
    }
  }
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    if (plan.streams[stream].port != port) continue;
    balance.sent += status.actor(plan.streams[stream].ingress).made.load(std::memory_order_acquire);
    for (const std::uint32_t lane : lanes_of(plan, plan.streams[stream])) {
      const IngressLane& ingress = status.ingress_lane(stream, lane);
      balance.received += ingress.received.load(std::memory_order_acquire) +
                          ingress.refused.complete().packets.load(std::memory_order_relaxed);
    }
  }
  return balance;
}

std::uint64_t packets_in_loops(const Plan& plan, const StatusView& status) {
  std::uint64_t packets = 0;
  for (std::uint32_t port = 0; port < plan.ports.size(); ++port) {
    if (is_loop(plan.ports[port])) packets += loop_balance(plan, status, port).under_way();
  }
  return packets;
}

}  // namespace millrace
