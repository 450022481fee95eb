// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/afxdp.hpp"

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/settings.hpp"

namespace millrace {

AfxdpSettings afxdp_settings(const PlanPort& port) {
  const PortSettings settings(port);
  AfxdpSettings parsed;
  parsed.interface = interface_setting(settings);
  parsed.queues = settings.count("queues");
  parsed.ring = settings.count("ring");
  return parsed;
}

void check_afxdp(const PlanPort& port) { afxdp_settings(port); }

PortQueues afxdp_queues(const PlanPort& port) {
  return {afxdp_settings(port).queues, kPortQueueCountMax};
}

InterfaceWish afxdp_interface(const PlanPort& port) {
  const AfxdpSettings settings = afxdp_settings(port);
  return {.interface = settings.interface, .mtu = port.mtu, .rx_queues = settings.queues};
}

std::unique_ptr<TxQueue> open_afxdp_tx(const PlanPort& port, const std::string& run_dir) {
  return open_packet_tx(afxdp_settings(port).interface, run_dir);
}

}  // namespace millrace
