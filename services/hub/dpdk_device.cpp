// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/dpdk_device.hpp"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Throws for a negative result.
void check(int result, const std::string& doing) {
  if (result < 0) throw Error(doing + ": " + rte_strerror(-result));
}

rte_eth_dev_info info_of(std::uint16_t device) {
  rte_eth_dev_info info{};
  check(rte_eth_dev_info_get(device, &info), "ask the device what it can");
  return info;
}

void refuse_more(std::uint32_t wanted, std::uint32_t most, const std::string& what,
                 const std::string& mend) {
  if (wanted <= most) return;
  throw Error(std::to_string(wanted) + " " + what + " are wanted, the device has " +
              std::to_string(most) + "; " + mend);
}

struct DriverArguments {
  std::string_view driver, arguments;
};
/// Of DPDK 22.11, as its drivers register them.
constexpr DriverArguments kArguments[] = {
    {"net_memif", "bsize, id, mac, role, rsize, secret, socket, socket-abstract, zero-copy"},
    {"net_null", "copy, no-rx, size"},
    {"net_tap", "iface, mac, remote"},
    {"net_vhost",
     "client, ext-buffer, iface, iommu-support, linear-buffer, postcopy-support, queues, tso"},
    {"net_virtio_user",
     "cq, iface, in_order, mac, mrg_rxbuf, packed_vq, path, queue_size, queues, server, speed, "
     "vectorized"},
};

Error not_there(const PortArgs& args) {
  if (!args.virtual_device) {
    return Error("no device " + args.name +
                 " for DPDK; bind it to vfio-pci: modprobe vfio-pci && "
                 "dpdk-devbind.py -b vfio-pci " +
                 args.name + " (list: dpdk-devbind.py -s)");
  }
  const std::string made = "device '" + args.devargs + "' cannot be made: ";
  const std::string rest = "; its driver's own words are above (in use already? ip link, ss -xl)";
  const std::size_t comma = args.devargs.find(',');
  if (comma == std::string::npos) {
    return Error(made + (rte_errno != 0 ? rte_strerror(rte_errno) : "its driver refuses") + rest);
  }
  // rte_errno then is what the driver thinks of an argument that it cannot read: no memory.
  const std::string driver =
      args.devargs.substr(0, args.devargs.find_last_not_of("0123456789", comma - 1) + 1);
  std::string known;
  for (const auto& [name, arguments] : kArguments) {
    if (name == driver) known = " (it knows " + std::string(arguments) + ")";
  }
  return Error(made + "driver " + driver + " does not take the arguments '" +
               args.devargs.substr(comma + 1) + "'" + known + ", or cannot have what they name" +
               rest);
}

}  // namespace

void register_segment(const SegmentView& segment, std::size_t bytes) {
  std::byte* const base = segment.buffers().base - segment.layout().buffers;
  if (rte_extmem_register(base, bytes, nullptr, 0, kHugePage) != 0) {
    throw system_error("register the segment with DPDK", rte_errno);
  }
}

std::uint16_t find_device(const PortArgs& args) {
  std::uint16_t device = 0;
  rte_errno = 0;
  if (args.virtual_device && rte_dev_probe(args.devargs.c_str()) != 0) throw not_there(args);
  if (rte_eth_dev_get_port_by_name(args.name.c_str(), &device) != 0) throw not_there(args);
  return device;
}

void configure_device(std::uint16_t device, const PlanPort& port, const PortArgs& args,
                      std::uint32_t receive_queues, std::uint32_t transmit_queues) {
  const rte_eth_dev_info info = info_of(device);
  refuse_more(receive_queues, info.max_rx_queues, "receive queues", "set queues: lower");
  refuse_more(transmit_queues, info.max_tx_queues, "transmit queues", "set egress: count: lower");
  if (port.mtu < info.min_mtu || port.mtu > info.max_mtu) {
    throw Error("mtu " + std::to_string(port.mtu) + " is not within " +
                std::to_string(info.min_mtu) + ".." + std::to_string(info.max_mtu) +
                " of the device");
  }
  const std::string& name = args.name;
  if (name.starts_with("net_memif") && receive_queues == 0) {
    throw Error("memif goes both ways or not at all: name the port in `from` of a path too");
  }
  if (name.starts_with("net_tap") && transmit_queues > std::max(receive_queues, 1u)) {
    throw Error(
        std::to_string(transmit_queues) + " egress actors and " + std::to_string(receive_queues) +
        " receive queues: the kernel would answer on queues that are not read; set queues: " +
        std::to_string(transmit_queues) + " or egress: count: " + std::to_string(receive_queues));
  }
  rte_eth_conf conf{};
  conf.rxmode.mtu = port.mtu;
  if (receive_queues > 1 && (info.flow_type_rss_offloads & RTE_ETH_RSS_IP) != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf =
        info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
  }
  check(rte_eth_dev_configure(device, static_cast<std::uint16_t>(receive_queues),
                              static_cast<std::uint16_t>(transmit_queues), &conf),
        "configure " + std::to_string(receive_queues) + " receive and " +
            std::to_string(transmit_queues) + " transmit queues, mtu " + std::to_string(port.mtu));
}

void set_up_receive(std::uint16_t device, std::uint32_t queue, std::uint32_t descriptors,
                    rte_mempool* pool) {
  const rte_eth_dev_info info = info_of(device);
  if (info.rx_desc_lim.nb_max != 0) {
    refuse_more(descriptors, info.rx_desc_lim.nb_max, "receive descriptors",
                "set rx_descriptors: lower");
  }
  rte_eth_rxconf conf = info.default_rxconf;
  conf.offloads = 0;
  conf.rx_drop_en = 1;
  check(rte_eth_rx_queue_setup(device, static_cast<std::uint16_t>(queue),
                               static_cast<std::uint16_t>(descriptors), SOCKET_ID_ANY, &conf, pool),
        "set up receive queue " + std::to_string(queue) + " with " + std::to_string(descriptors) +
            " descriptors");
}

void set_up_transmit(std::uint16_t device, std::uint32_t queue, std::uint32_t descriptors) {
  const rte_eth_dev_info info = info_of(device);
  if (info.tx_desc_lim.nb_max != 0) {
    refuse_more(descriptors, info.tx_desc_lim.nb_max, "transmit descriptors",
                "set tx_descriptors: lower");
  }
  rte_eth_txconf conf = info.default_txconf;
  // A queue's headers are of one pool, alone and with one reference each.
  conf.offloads = info.tx_queue_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  check(rte_eth_tx_queue_setup(device, static_cast<std::uint16_t>(queue),
                               static_cast<std::uint16_t>(descriptors), SOCKET_ID_ANY, &conf),
        "set up transmit queue " + std::to_string(queue) + " with " + std::to_string(descriptors) +
            " descriptors");
}

void start_device(std::uint16_t device, const PortArgs& args) {
  const int started = rte_eth_dev_start(device);
  if (started < 0 && calls_its_peer(args)) return;  // none there yet
  check(started, "start the device");
  if (!args.promiscuous) return;
  // A device without the notion receives everything anyway.
  if (const int result = rte_eth_promiscuous_enable(device); result != -ENOTSUP) {
    check(result, "receive what is addressed to others (promiscuous: false does without)");
  }
}

void stop_device(std::uint16_t device) noexcept { rte_eth_dev_stop(device); }

bool calls_its_peer(const PortArgs& args) noexcept {
  return args.name.starts_with("net_memif") &&
         args.devargs.find("role=server") == std::string::npos &&
         args.devargs.find("role=master") == std::string::npos;
}

void call_again(std::uint16_t device) noexcept {
  rte_eth_dev_stop(device);
  rte_eth_dev_start(device);
}

void close_device(std::uint16_t device) noexcept {
  rte_eth_dev_stop(device);
  rte_eth_dev_close(device);
}

DeviceLink link_of(std::uint16_t device) noexcept {
  constexpr std::uint64_t kMegabitBytes = 125'000;
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(device, &link) != 0 || link.link_status != RTE_ETH_LINK_UP) return {};
  const bool known =
      link.link_speed != RTE_ETH_SPEED_NUM_NONE && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
  return {.up = true, .bytes_per_second = known ? link.link_speed * kMegabitBytes : 0};
}

}  // namespace millrace
