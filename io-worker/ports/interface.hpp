// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io-worker/ports/ethtool.hpp"
#include "shared/config/plan.hpp"

/// Taking network interfaces from the kernel, and giving them back. The supervisor takes all of a
/// topology before its workers start, and is the one that gives back: after a clean stop, and after
/// a crash before the next start or by `down`. Workers only open sockets.
///
/// The state before is kept in `<run dir>/interfaces` (taken.hpp), written before anything is
/// changed. The interface's alias says which topology has it, for people and for other topologies.
/// An interface that is renamed while it is taken stays the port's, and is given back under its new
/// name.

namespace millrace {

struct InterfaceWish {
  std::string interface;
  std::uint32_t mtu = 1500;     ///< of the port: the interface's must not be less
  bool host = false;            ///< the kernel's own stack goes on receiving what the port receives
  std::uint32_t rx_queues = 0;  ///< as many the device has to use; 0: no matter
  bool super_frames = false;    ///< it gets some to send: what the device does with them stays on
};

/// True when the feature is on and makes a frame on the port differ from the one on the wire. With
/// `super_frames` the features for sending (tx-...) are wanted.
bool is_unwanted(const Ethtool::Feature& feature, const InterfaceWish& wish);

/// True when something of the topology that runs in `run_dir` lives.
using InUse = std::function<bool(const std::string& run_dir)>;

/// Checks that the interface is there, up, Ethernet, long enough, not another topology's and
/// without addresses that the kernel would lose; switches its harmful offloads off and the kernel's
/// stack away. Returns what was done, for people. Throws Error with the command that mends it.
std::string take_interface(const PlanPort& port, const InterfaceWish& wish,
                           const std::string& run_dir, const InUse& in_use);

/// The same for an interface that was taken, went, and has come again under its name.
std::string retake_interface(const PlanPort& port, const InterfaceWish& wish,
                             const std::string& run_dir, const InUse& in_use);

/// Sets a taken interface down, or up again. An interface that is down goes up when it is given
/// back. False: the kernel refused.
bool hold_down(const std::string& run_dir, const std::string& interface, bool down) noexcept;
/// It is held down, by this supervisor or by one before it.
bool is_held_down(const std::string& run_dir, const std::string& interface) noexcept;

/// Gives back the interfaces that the topology of this run directory took in this network
/// namespace, and removes their record. An interface that has gone meanwhile needs nothing.
void give_back_interfaces(const std::string& run_dir) noexcept;

/// Which packets are lost between an interface and its port when their MTUs differ, and the change
/// that mends it; empty: they are equal.
std::string mtu_warning(const std::string& port, std::uint32_t port_mtu,
                        const std::string& interface, std::uint32_t interface_mtu);

/// Addresses that this host would lose if the port took the interface.
struct AddressTrouble {
  std::string found;
  std::string mend;  ///< a shell command, or a setting
};
/// Nothing: it has none, or there is no such interface.
std::optional<AddressTrouble> address_trouble(const PlanPort& port, const InterfaceWish& wish);

/// Number of an interface. Throws Error with the nearest name.
std::uint32_t interface_index(const std::string& interface);

}  // namespace millrace
