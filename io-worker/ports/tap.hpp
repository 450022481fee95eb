// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "shared/base/mac.hpp"
#include "shared/base/unique_fd.hpp"

/// Device `tap`: an interface of the host that is there while the topology runs. What the host
/// sends over it is received, what is sent the host receives. Settings: README.md.
///
/// The hub makes it; hub and standby keep its queues open and lend them, so it outlives io-workers,
/// and what comes while an ingress is dead waits in the kernel (kept_file.hpp).

namespace millrace {

struct TapSettings {
  std::string interface;
  std::uint32_t queues = 0;
  std::uint32_t ring = 0;  ///< packets that the kernel keeps for each queue
  MacAddress host_mac{};   ///< of the host's end
  std::vector<InterfaceAddress> host_addresses;
  bool super_frames = false;  ///< the host's stack leaves cutting and checksums to the port
};

inline bool is_tap(const PlanPort& port) { return port.device == "tap"; }
/// Throws Error for a bad setting.
TapSettings tap_settings(const PlanPort& port);
void check_tap(const PlanPort& port);
PortQueues tap_queues(const PlanPort& port);

/// For the supervisor, before any process starts: the name is free, the host has tap interfaces.
/// What a dead topology left is removed. Returns what was done, for people.
std::string prepare_tap(const PlanPort& port, const std::string& run_dir, const InUse& in_use);

/// Makes the interface, up and with its addresses; returns its queues' files. It is gone when the
/// last process that has one of them ends. Throws Error with what mends the host.
std::vector<UniqueFd> make_tap(const PlanPort& port, const std::string& run_dir);
/// A queue's file from the hub, else from the standby. Throws Error when neither lives.
UniqueFd borrow_tap(const PlanPort& port, std::uint32_t queue, const std::string& run_dir);
/// The interface's number when it is in this network namespace, else 0.
std::uint32_t tap_index(const UniqueFd& queue);

/// Receives straight into buffers, a system call a packet. What a buffer cannot hold is oversize.
/// `index`: of the interface whose drops missed() tells; 0: they are not known. With `super_frames`
/// one call may receive many packets (super_frame.hpp), those that have no buffer yet wait.
std::unique_ptr<RxQueue> open_tap_rx(const PlanPort& port, UniqueFd file, std::uint32_t index,
                                     const BufferSource& pool);
/// Sends into one of the queues, by flow: to where it goes the kernel sends a flow's answers. What
/// a reader behind the interface does not take is bounded; beyond that the queue is full. With
/// `super_frames` successive segments of a TCP connection go as one (tx_frames.hpp).
std::unique_ptr<TxQueue> open_tap_tx(const PlanPort& port, std::vector<UniqueFd> files);

}  // namespace millrace
