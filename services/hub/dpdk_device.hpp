// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rte_mempool.h>

#include <cstddef>
#include <cstdint>

#include "shared/driver/port_args.hpp"
#include "shared/layout/segment.hpp"

/// One DPDK device, in the primary process. Each function throws Error that says what the device
/// refused, with its figures, and the command that mends the host where there is one.

namespace millrace {

/// The segment as memory that devices may use.
void register_segment(const SegmentView& segment, std::size_t bytes);
/// Makes the virtual device, or finds the NIC. Returns DPDK's number of its port.
std::uint16_t find_device(const PortArgs& args);
/// Queues, MTU; no offloads: packets come and go as they are on the wire.
void configure_device(std::uint16_t device, const PlanPort& port, const PortArgs& args,
                      std::uint32_t receive_queues, std::uint32_t transmit_queues);
void set_up_receive(std::uint16_t device, std::uint32_t queue, std::uint32_t descriptors,
                    rte_mempool* pool);
void set_up_transmit(std::uint16_t device, std::uint32_t queue, std::uint32_t descriptors);
void start_device(std::uint16_t device, const PortArgs& args);
void stop_device(std::uint16_t device) noexcept;
/// A memif client connects when it is started, and then never again by itself.
bool calls_its_peer(const PortArgs& args) noexcept;
/// Its link is down: tries once more. Its users need not keep away, they see a link that is down.
void call_again(std::uint16_t device) noexcept;
void close_device(std::uint16_t device) noexcept;

struct DeviceLink {
  bool up = false;
  std::uint64_t bytes_per_second = 0;  ///< 0: not known
};
DeviceLink link_of(std::uint16_t device) noexcept;

}  // namespace millrace
