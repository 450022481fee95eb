// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/afpacket.hpp"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kSuperFrameRing = 512;  // 34 MiB

}  // namespace

std::string interface_setting(const PortSettings& settings) {
  std::string interface = settings.text("interface");
  if (interface.empty()) settings.refuse("needs 'interface', the one to take");
  if (interface.size() >= IFNAMSIZ) {
    settings.refuse("interface", interface, "a name of at most 15 bytes");
  }
  return interface;
}

AfpacketSettings afpacket_settings(const PlanPort& port) {
  const PortSettings settings(port);
  AfpacketSettings parsed;
  parsed.interface = interface_setting(settings);
  parsed.queues = settings.count("queues");
  parsed.queues_max = settings.count("queues_max", parsed.queues);
  parsed.host = settings.flag("host");
  parsed.super_frames = settings.flag("super_frames");
  parsed.ring = settings.count("ring");
  if (parsed.super_frames && !settings.has("ring")) parsed.ring = kSuperFrameRing;
  return parsed;
}

void check_afpacket(const PlanPort& port) { afpacket_settings(port); }

PortQueues afpacket_queues(const PlanPort& port) {
  return {afpacket_settings(port).queues, kPortQueueCountMax};
}

InterfaceWish afpacket_interface(const PlanPort& port) {
  const AfpacketSettings settings = afpacket_settings(port);
  return {.interface = settings.interface,
          .mtu = port.mtu,
          .host = settings.host,
          .super_frames = settings.super_frames};
}

UniqueFd open_packet_socket() {
  UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (socket) return socket;
  if (errno != EPERM) throw system_error("open a packet socket", errno);
  char program[4096] = "millrace-io-worker";
  [[maybe_unused]] const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  throw Error(std::string("a packet socket needs CAP_NET_RAW: sudo, or: sudo setcap "
                          "cap_net_admin,cap_net_raw+ep ") +
              program);
}

void bind_packet_socket(const UniqueFd& socket, const std::string& interface,
                        std::uint16_t protocol) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(protocol);
  address.sll_ifindex = static_cast<int>(interface_index(interface));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw system_error("bind a packet socket to " + interface, errno);
  }
}

void receive_all(const UniqueFd& socket, const std::string& interface) {
  packet_mreq wish{};  // the kernel takes it back when the socket is closed
  wish.mr_ifindex = static_cast<int>(interface_index(interface));
  wish.mr_type = PACKET_MR_PROMISC;
  if (::setsockopt(socket.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &wish, sizeof wish) != 0) {
    throw system_error("receive what is for other stations of " + interface, errno);
  }
}

}  // namespace millrace
