// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io-worker/ports/port.hpp"

/// Device `afxdp`: a network interface by AF_XDP. Settings: README.md.

namespace millrace {

struct AfxdpSettings {
  std::string interface;
  std::uint32_t queues = 0;
  std::uint32_t ring = 0;  ///< buffers that each receive queue keeps
};

/// Throws Error for a bad setting.
AfxdpSettings afxdp_settings(const PlanPort& port);
/// Settings only: the interface is looked at when it is taken.
void check_afxdp(const PlanPort& port);
PortQueues afxdp_queues(const PlanPort& port);
InterfaceWish afxdp_interface(const PlanPort& port);

/// Receives into the pool's own buffers: all of them are the socket's memory. The driver or the
/// kernel fills those in the fill ring, which the queue holds. A frame that needs several buffers
/// is put together in the first. Packets that arrive while no socket serves the queue are dropped
/// uncounted.
std::unique_ptr<RxQueue> open_afxdp_rx(const PlanPort& port, std::uint32_t queue, ShareSet shares,
                                       const BufferSource& pool, const std::string& run_dir);

/// Sends by a packet socket, as `afpacket` does: a receive queue's AF_XDP socket is another
/// process's.
std::unique_ptr<TxQueue> open_afxdp_tx(const PlanPort& port, const std::string& run_dir);

}  // namespace millrace
