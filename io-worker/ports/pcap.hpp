// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io-worker/ports/port.hpp"

/// Device `pcap`: reads packets from a capture file, writes packets to one. Settings: README.md.

namespace millrace {

struct PcapSettings {
  std::string in;   ///< empty: the port receives nothing
  std::string out;  ///< empty: the port cannot send
};

/// Throws Error for a bad setting, or when there is neither `in` nor `out`.
PcapSettings pcap_settings(const PlanPort& port);

/// Settings, and whether `in` is a capture of Ethernet packets and `out` can be made. Throws Error.
void check_pcap(const PlanPort& port);
PortQueues pcap_queues(const PlanPort& port);

/// Copies each record into a buffer. Stops for good at the end of the file, also when its last
/// record is incomplete or corrupt: errors() is then 1.
std::unique_ptr<RxQueue> open_pcap_rx(const PlanPort& port, std::uint32_t queue,
                                      const BufferSource& pool, bool restarted);

/// Writes pcap with nanoseconds. All packets of a send() are with the kernel when it returns, so a
/// kill loses none that were counted. A restarted process cuts off a partial last record and
/// appends to the file; that takes time in proportion to the file.
std::unique_ptr<TxQueue> open_pcap_tx(const PlanPort& port, std::uint32_t queue, bool restarted);

}  // namespace millrace
