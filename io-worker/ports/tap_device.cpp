// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "io-worker/ports/kept_file.hpp"
#include "io-worker/ports/super_frame.hpp"
#include "io-worker/ports/tap.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"
#include "shared/base/tap_interface.hpp"

namespace millrace {
namespace {

/// Bytes that wait behind the interface for a reader that does not take them, for each queue.
constexpr int kWaitingBytesMax = 2 << 20;

UniqueFd open_tun() {
  UniqueFd file(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (file) return file;
  const std::string mend = errno == EACCES || errno == EPERM
                               ? "sudo, or: sudo chmod 666 /dev/net/tun"
                               : "modprobe tun (for a container: --device /dev/net/tun)";
  throw Error(std::string("open /dev/net/tun: ") + std::strerror(errno) + "; mend: " + mend);
}

/// Throws Error: there is an interface of this name.
[[noreturn]] void refuse_taken(const std::string& interface, const std::string& owner,
                               const std::string& run_dir) {
  if (owner == run_dir) {
    throw Error("interface '" + interface + "' is another port of this topology already");
  }
  const std::string there = "interface '" + interface + "' is there already";
  if (owner.empty()) {
    throw Error(there + ": name one that is to be made, or: ip link del " + interface);
  }
  throw Error(there + ", a port of the topology in " + owner +
              ": name another one, or: millrace down " + words_for_run_in(owner));
}

[[noreturn]] void refuse(const std::string& interface, const std::string& run_dir, int error) {
  if (error == EPERM) {
    throw Error("making interface '" + interface +
                "' needs CAP_NET_ADMIN: sudo, or: sudo setcap cap_net_admin+ep <bin>/millrace-hub");
  }
  if (error == EBUSY) {
    const auto link = find_link(interface);
    refuse_taken(interface, link ? run_dir_of_tap(link->alias) : "", run_dir);
  }
  throw system_error("make interface '" + interface + "'", error);
}

UniqueFd open_queue(const TapSettings& settings, const std::string& run_dir, bool first) {
  UniqueFd file = open_tun();
  ifreq request{};
  settings.interface.copy(request.ifr_name, IFNAMSIZ - 1);
  // Without IFF_VNET_HDR the kernel gives whole frames, none longer than the MTU allows.
  request.ifr_flags =
      static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE | (first ? IFF_TUN_EXCL : 0) |
                         (settings.super_frames ? IFF_VNET_HDR : 0));
  if (::ioctl(file.get(), TUNSETIFF, &request) != 0) refuse(settings.interface, run_dir, errno);
  return file;
}

/// Lets the host's stack leave to the port: checksums, and the cutting of TCP and, since Linux 6.2,
/// of UDP.
void take_super_frames(const UniqueFd& queue) {
  constexpr int kHeaderBytes = sizeof(Offload);
  if (::ioctl(queue.get(), TUNSETVNETHDRSZ, &kHeaderBytes) != 0) {
    throw system_error("describe super-frames of it", errno);
  }
  constexpr unsigned kTcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
  constexpr unsigned kUdp = 0x20 | 0x40;  // TUN_F_USO4, TUN_F_USO6: later than some headers
  if (::ioctl(queue.get(), TUNSETOFFLOAD, kTcp | kUdp) == 0) return;
  if (::ioctl(queue.get(), TUNSETOFFLOAD, kTcp) != 0) {
    throw system_error("take super-frames of it", errno);
  }
}

void check_done(int error, const std::string& doing) {
  if (error != 0) throw system_error(doing, error);
}

}  // namespace

std::string prepare_tap(const PlanPort& port, const std::string& run_dir, const InUse& in_use) {
  const std::string interface = tap_settings(port).interface;
  open_tun();
  const auto link = find_link(interface);
  if (!link) return "";
  const std::string owner = run_dir_of_tap(link->alias);
  // The caller has made sure that nothing of its own topology lives.
  if (owner.empty() || (owner != run_dir && in_use(owner))) refuse_taken(interface, owner, run_dir);
  check_done(remove_link(link->index), "remove interface '" + interface + "' of a killed run");
  return "interface " + interface + ", left by a killed run, removed";
}

std::vector<UniqueFd> make_tap(const PlanPort& port, const std::string& run_dir) {
  const TapSettings settings = tap_settings(port);
  std::vector<UniqueFd> queues;
  for (std::uint32_t i = 0; i < settings.queues; ++i) {
    queues.push_back(open_queue(settings, run_dir, i == 0));
    if (settings.super_frames) take_super_frames(queues.back());
  }
  const std::uint32_t index = tap_index(queues[0]);
  check_done(set_alias(index, tap_alias(settings.interface, run_dir)), "mark it");
  if (::ioctl(queues[0].get(), TUNSETSNDBUF, &kWaitingBytesMax) != 0) {
    throw system_error("bound what waits behind it", errno);
  }
  check_done(
      bring_up(index,
               {.mtu = port.mtu, .tx_queue_length = settings.ring, .mac = settings.host_mac}),
      "bring up interface '" + settings.interface + "' with MTU " + std::to_string(port.mtu));
  for (const InterfaceAddress& address : settings.host_addresses) {
    check_done(add_address(index, address), "give it an address of host_addresses");
  }
  return queues;
}

UniqueFd borrow_tap(const PlanPort& port, std::uint32_t queue, const std::string& run_dir) {
  UniqueFd file = borrow_kept(run_dir, kept_file_name(port, queue));
  if (file) return file;
  throw Error("neither hub nor standby lends queue " + std::to_string(queue) +
              " of its interface; plan a restart: millrace down " + words_for_run_in(run_dir));
}

std::uint32_t tap_index(const UniqueFd& queue) {
  ifreq request{};
  if (::ioctl(queue.get(), TUNGETIFF, &request) != 0) return 0;
  request.ifr_name[IFNAMSIZ - 1] = '\0';
  return ::if_nametoindex(request.ifr_name);
}

}  // namespace millrace
