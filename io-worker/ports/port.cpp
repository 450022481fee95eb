// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/port.hpp"

#include <string>
#include <vector>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/afxdp.hpp"
#include "io-worker/ports/closed_queues.hpp"
#include "io-worker/ports/dpdk.hpp"
#include "io-worker/ports/generate.hpp"
#include "io-worker/ports/loop.hpp"
#include "io-worker/ports/null.hpp"
#include "io-worker/ports/pcap.hpp"
#include "io-worker/ports/replay.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "io-worker/ports/settings.hpp"
#include "io-worker/ports/taken.hpp"
#include "io-worker/ports/tap.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

std::unique_ptr<RxQueue> open_lent_rx(const PlanPort& port, std::uint32_t queue, ShareSet,
                                      const BufferSource& pool, const std::string& run_dir) {
  UniqueFd file = borrow_tap(port, queue, run_dir);
  // The kernel counts drops of the interface as a whole: queue 0 reports them.
  const std::uint32_t index = queue == 0 ? tap_index(file) : 0;
  return open_tap_rx(port, std::move(file), index, pool);
}

std::unique_ptr<TxQueue> open_lent_tx(const PlanPort& port, const std::string& run_dir) {
  std::vector<UniqueFd> files;
  for (std::uint32_t i = 0; i < tap_queues(port).receive; ++i) {
    files.push_back(borrow_tap(port, i, run_dir));
  }
  return open_tap_tx(port, std::move(files));
}

/// A VLAN has no queues of its own: they are those of its link.
void check_vlan(const PlanPort& port) { PortSettings{port}; }
PortQueues vlan_queues(const PlanPort& port) {
  check_vlan(port);
  return {};
}

struct Device {
  std::string_view name;
  void (*check)(const PlanPort&);
  PortQueues (*queues)(const PlanPort&);
  /// Null: see open_by_rx, open_by_tx, or it is opened by io-worker/driver/ or
  /// io-worker/loop/, or never sends.
  std::unique_ptr<RxQueue> (*open_rx)(const PlanPort&, std::uint32_t, const BufferSource&, bool);
  std::unique_ptr<TxQueue> (*open_tx)(const PlanPort&, std::uint32_t, bool);
  InterfaceWish (*interface)(const PlanPort&) = nullptr;  ///< of the kernel's that it takes
  /// What else the supervisor does before the start.
  std::string (*prepare)(const PlanPort&, const std::string&, const InUse&) = nullptr;
  /// For devices with queues that need the run directory: for files that hub and standby keep, and
  /// for the present name of an interface.
  std::unique_ptr<RxQueue> (*open_by_rx)(const PlanPort&, std::uint32_t queue, ShareSet,
                                         const BufferSource&, const std::string& run_dir) = nullptr;
  std::unique_ptr<TxQueue> (*open_by_tx)(const PlanPort&, const std::string& run_dir) = nullptr;
};

/// All devices.
constexpr Device kDevices[] = {
    {"afpacket", check_afpacket, afpacket_queues, nullptr, nullptr, afpacket_interface, nullptr,
     open_afpacket_rx, open_afpacket_tx},
    {"afxdp", check_afxdp, afxdp_queues, nullptr, nullptr, afxdp_interface, nullptr, open_afxdp_rx,
     open_afxdp_tx},
    {"pcap", check_pcap, pcap_queues, open_pcap_rx, open_pcap_tx},
    {"replay", check_replay, replay_queues, open_replay_rx, nullptr},
    {"generate", check_generate, generate_queues, open_generate_rx, nullptr},
    {"null", check_null, null_queues, open_null_rx, open_null_tx},
    {"dpdk", check_dpdk, dpdk_queues, nullptr, nullptr},
    {"tap", check_tap, tap_queues, nullptr, nullptr, nullptr, prepare_tap, open_lent_rx,
     open_lent_tx},
    {"vlan", check_vlan, vlan_queues, nullptr, nullptr},
    {"loop", check_loop, loop_queues, nullptr, nullptr},
};

const Device& device_of(const PlanPort& port) {
  std::vector<std::string_view> names;
  for (const Device& device : kDevices) {
    if (device.name == port.device) return device;
    names.push_back(device.name);
  }
  const std::string near = nearest_of(port.device, names);
  throw Error("port '" + port.name + "': unknown device '" + port.device + "'" +
              (near.empty() ? "" : ", did you mean '" + near + "'?") +
              " allowed: " + comma_list(names));
}

std::string opening(const PlanPort& port, std::string_view direction, std::uint32_t queue) {
  return "port '" + port.name + "' (" + port.device + "), " + std::string(direction) + " queue " +
         std::to_string(queue);
}

std::unique_ptr<RxQueue> reopen_rx(const Device& device, const PlanPort& port, std::uint32_t queue,
                                   const BufferSource& pool) {
  try {
    return device.open_rx(port, queue, pool, true);
  } catch (const Error& error) {
    return closed_rx(error.what(), [&device, port, queue, &pool] {
      return device.open_rx(port, queue, pool, true);
    });
  }
}

std::unique_ptr<TxQueue> reopen_tx(const Device& device, const PlanPort& port,
                                   std::uint32_t queue) {
  try {
    return device.open_tx(port, queue, true);
  } catch (const Error& error) {
    return closed_tx(error.what(),
                     [&device, port, queue] { return device.open_tx(port, queue, true); });
  }
}

/// The supervisor begins the ingress anew when the interface is back.
std::unique_ptr<RxQueue> open_interface_rx(const Device& device, const PlanPort& port,
                                           std::uint32_t queue, ShareSet shares,
                                           const BufferSource& pool, const std::string& run_dir) {
  const bool is_away =
      device.interface != nullptr && has_gone(run_dir, device.interface(port).interface);
  if (is_away) return absent_rx(device.interface(port).interface);
  return device.open_by_rx(port, queue, shares, pool, run_dir);
}

void refuse_queue(std::uint32_t queue, std::uint32_t count) {
  if (queue < count) return;
  throw Error(count == 0 ? std::string("this port has none")
                         : "this port has " + std::to_string(count));
}

}  // namespace

void check_port(const PlanPort& port) { device_of(port).check(port); }

PortQueues port_queues(const PlanPort& port) { return device_of(port).queues(port); }

std::optional<InterfaceWish> interface_wish(const PlanPort& port) {
  const Device& device = device_of(port);
  if (device.interface == nullptr) return std::nullopt;
  return device.interface(port);
}

std::optional<StackedPorts> stacked_ports(std::span<const PlanPort> ports) {
  for (const PlanPort& lower : ports) {
    const auto wish = interface_wish(lower);
    const auto link = wish && !wish->host ? find_link(wish->interface) : std::nullopt;
    if (!link) continue;
    for (const Link& over : links_over(*link)) {
      for (std::size_t i = 0; i < ports.size(); ++i) {
        const auto other = interface_wish(ports[i]);
        if (!other || other->interface != over.name) continue;
        return StackedPorts{i, "interface '" + over.name + "' of port '" + ports[i].name +
                                   "' lies over '" + link->name + "' of port '" + lower.name +
                                   "', which leaves nothing for it: for a VLAN a port of device " +
                                   "vlan over '" + lower.name + "', else host: true at port '" +
                                   lower.name + "' if it is an afpacket"};
      }
    }
  }
  return std::nullopt;
}

std::string take_port(const PlanPort& port, const std::string& run_dir, const InUse& in_use) {
  if (const auto wish = interface_wish(port)) return take_interface(port, *wish, run_dir, in_use);
  const Device& device = device_of(port);
  if (device.prepare == nullptr) return "";
  return while_doing("port '" + port.name + "' (" + port.device + ")",
                     [&] { return device.prepare(port, run_dir, in_use); });
}

std::unique_ptr<RxQueue> open_rx_queue(const PlanPort& port, std::uint32_t queue,
                                       const BufferSource& pool, bool restarted,
                                       const std::string& run_dir, std::optional<ShareSet> shares) {
  const Device& device = device_of(port);
  return while_doing(opening(port, "receive", queue), [&] {
    refuse_queue(queue, device.queues(port).receive);
    if (device.open_by_rx != nullptr) {
      return open_interface_rx(device, port, queue, shares.value_or(ShareSet{1} << queue), pool,
                               run_dir);
    }
    MILLRACE_CHECK(device.open_rx != nullptr);
    if (restarted) return reopen_rx(device, port, queue, pool);
    return device.open_rx(port, queue, pool, false);
  });
}

std::unique_ptr<TxQueue> open_tx_queue(const PlanPort& port, std::uint32_t queue, bool restarted,
                                       const std::string& run_dir) {
  const Device& device = device_of(port);
  return while_doing(opening(port, "transmit", queue), [&] {
    refuse_queue(queue, device.queues(port).send);
    if (device.open_by_tx != nullptr) return device.open_by_tx(port, run_dir);
    if (restarted) return reopen_tx(device, port, queue);
    return device.open_tx(port, queue, false);
  });
}

}  // namespace millrace
