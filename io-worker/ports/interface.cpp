// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/interface.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "io-worker/ports/ethtool.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

constexpr std::string_view kAliasStart = "millrace: taken by the topology in ";

std::string record_path(const std::string& run_dir) { return run_dir + "/interfaces"; }

std::string held_down_path(const std::string& run_dir, const std::string& interface) {
  return record_path(run_dir) + ".down." + interface;
}

/// Which network namespace this is; interface names mean nothing in another one.
std::string network_namespace() {
  struct stat info {};
  return ::stat("/proc/self/ns/net", &info) == 0 ? std::to_string(info.st_ino) : "";
}

std::vector<std::string> interface_names() {
  std::vector<std::string> names;
  struct if_nameindex* list = ::if_nameindex();
  for (const auto* at = list; at != nullptr && at->if_index != 0; ++at)
    names.emplace_back(at->if_name);
  if (list != nullptr) ::if_freenameindex(list);
  return names;
}

Error not_found(const std::string& interface) {
  const std::vector<std::string> names = interface_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = nearest_of(interface, views);
  return Error("no interface '" + interface + "' in this network namespace; there are: " +
               comma_list(views) + (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

/// An address of the kernel on this interface that is more than link-local; empty: none.
std::string kernel_address(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || interface != at->ifa_name) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (at->ifa_addr->sa_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
      return ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    }
    if (at->ifa_addr->sa_family != AF_INET6) continue;
    const auto* address = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr);
    if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) continue;
    return ::inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
  }
  return "";
}

Link check_link(const PlanPort& port, const InterfaceWish& wish) {
  const std::string& name = wish.interface;
  const std::string called = "interface '" + name + "' ";
  const auto link = find_link(name);
  if (!link) throw not_found(name);
  if (link->type != ARPHRD_ETHER) {
    throw Error(called + "is not Ethernet: a port needs one that is");
  }
  if ((link->flags & IFF_UP) == 0) throw Error(called + "is down: ip link set " + name + " up");
  if (link->mtu < wish.mtu) {
    const std::string wanted = std::to_string(wish.mtu);
    throw Error(called + "has MTU " + std::to_string(link->mtu) + ", the port " + wanted +
                ": ip link set " + name + " mtu " + wanted +
                ", or mtu: " + std::to_string(link->mtu) + " at port '" + port.name + "'");
  }
  const std::string address = wish.host ? "" : kernel_address(name);
  if (!address.empty()) {
    throw Error(called + "has the address " + address +
                ", which this host would lose: ip address flush dev " + name +
                ", or host: true at port '" + port.name + "', so that the kernel receives too");
  }
  return *link;
}

/// Somebody else's, or left by a killed topology: that is mended here.
void check_owner(const Link& link, const std::string& interface, const std::string& run_dir,
                 const InUse& in_use) {
  if (!link.alias.starts_with(kAliasStart)) return;
  const std::string other = link.alias.substr(kAliasStart.size());
  if (other == run_dir) {
    if (!taken_index(run_dir, interface)) return;  // of a run whose directory somebody removed
    throw Error("interface '" + interface + "' is another port of this topology already");
  }
  if (in_use(other)) {
    throw Error("interface '" + interface + "' is taken by the topology in " + other +
                ": millrace down " + other.substr(other.rfind('/') + 1));
  }
  give_back_interfaces(other);
}

Error not_allowed(const std::string& interface, const std::string& what, int error) {
  if (error != EPERM) return system_error(what + " interface '" + interface + "'", error);
  char program[4096] = "millrace";
  [[maybe_unused]] const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  const std::string path = program;
  return Error("taking interface '" + interface +
               "' needs CAP_NET_ADMIN: sudo, or: sudo setcap cap_net_admin,cap_net_raw+ep " + path +
               " " + path.substr(0, path.rfind('/') + 1) + "millrace-io-worker");
}

/// What giving back has to undo: a line in `<run dir>/interfaces`.
struct Taken {
  std::string netns;
  std::uint32_t index = 0;
  std::string interface;
  bool own_clsact = false;
  std::uint32_t rx_queues = 0;        ///< that it had; 0: not changed
  std::vector<std::string> offloads;  ///< that were on
  std::string alias;                  ///< the rest of the line
};

void append(const std::string& run_dir, const Taken& taken) {
  std::ofstream file(record_path(run_dir), std::ios::app);
  file << taken.netns << ' ' << taken.index << ' ' << taken.interface << ' ' << taken.own_clsact
       << ' ' << taken.rx_queues << ' ' << taken.offloads.size();
  for (const std::string& name : taken.offloads) file << ' ' << name;
  file << ' ' << taken.alias << '\n' << std::flush;
  if (!file) throw system_error("write " + record_path(run_dir), errno);
}

std::vector<Taken> read_record(const std::string& run_dir) {
  std::vector<Taken> all;
  std::ifstream file(record_path(run_dir));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Taken taken;
    std::size_t count = 0;
    words >> taken.netns >> taken.index >> taken.interface >> taken.own_clsact >> taken.rx_queues >>
        count;
    for (std::string name; count > 0 && words >> name; --count) taken.offloads.push_back(name);
    if (!words) continue;  // cut off by a kill: nothing was changed yet
    words.get();
    std::getline(words, taken.alias);
    all.push_back(std::move(taken));
  }
  return all;
}

/// The alias was the first change and is the last one undone: without it nothing was changed.
void give_back(const Taken& taken) {
  const auto link = find_link(taken.interface);
  if (!link || link->index != taken.index || taken.netns != network_namespace()) return;
  if (!link->alias.starts_with(kAliasStart)) return;
  remove_cut(taken.index);
  if (taken.own_clsact) remove_clsact(taken.index);
  const Ethtool ethtool(taken.interface);
  ethtool.set_features(taken.offloads, true);
  if (taken.rx_queues != 0) ethtool.set_rx_queues(taken.rx_queues);
  if (const int error = set_alias(taken.index, taken.alias); error != 0) {
    throw not_allowed(taken.interface, "give back", error);
  }
}

/// Keeps the kernel's own stack from what arrives. Returns a remark, or nothing.
std::string cut_off(const Taken& taken) {
  int error = taken.own_clsact ? add_clsact(taken.index) : 0;
  if (error == 0 || error == EEXIST) error = add_cut(taken.index);
  if (error == 0 || error == EEXIST) return "";
  if (error == EPERM) throw not_allowed(taken.interface, "cut off", error);
  return "; the kernel's own stack sees its packets too (no cls_bpf in this kernel)";
}

/// Switches off what can be. Returns a remark about what cannot, or nothing.
std::string switch_off(const Taken& taken) {
  const Ethtool ethtool(taken.interface);
  ethtool.set_features(taken.offloads, false);
  std::string left;
  for (const Ethtool::Feature& feature : ethtool.features()) {
    if (feature.active && is_harmful_offload(feature.name)) left += " " + feature.name;
  }
  return left.empty() ? "" : "; stay on and are made good:" + left;
}

/// Each receive queue has to be one of the port's.
void set_queues(const Taken& taken, std::uint32_t wanted) {
  if (taken.rx_queues == 0) return;
  const int error = Ethtool(taken.interface).set_rx_queues(wanted);
  if (error == 0) return;
  const std::string count = std::to_string(taken.rx_queues);
  throw Error("interface '" + taken.interface + "' spreads packets over " + count +
              " receive queues, the port has " + std::to_string(wanted) +
              ", and its driver does not change that: queues: " + count);
}

}  // namespace

std::string take_interface(const PlanPort& port, const InterfaceWish& wish,
                           const std::string& run_dir, const InUse& in_use) {
  const std::string& name = wish.interface;
  return while_doing("port '" + port.name + "' (" + port.device + ")", [&] {
    check_owner(check_link(port, wish), name, run_dir, in_use);
    const Link link = check_link(port, wish);  // as it was before a killed topology had it
    Taken taken{.netns = network_namespace(), .index = link.index, .interface = name};
    const bool marked = link.alias.starts_with(kAliasStart);  // what it was before nobody knows
    taken.own_clsact = !wish.host && (marked || !has_clsact(link.index));
    if (!marked) taken.alias = link.alias;
    for (const Ethtool::Feature& feature : Ethtool(name).features()) {
      if (feature.active && !feature.fixed && is_harmful_offload(feature.name)) {
        taken.offloads.push_back(feature.name);
      }
    }
    const std::uint32_t queues = wish.rx_queues != 0 ? Ethtool(name).rx_queues() : 0;
    if (queues != wish.rx_queues) taken.rx_queues = queues;
    append(run_dir, taken);
    if (const int error = set_alias(link.index, std::string(kAliasStart) + run_dir); error != 0) {
      throw not_allowed(name, "mark", error);
    }
    const std::string remark = switch_off(taken);
    set_queues(taken, wish.rx_queues);
    return "interface " + name + " taken, " + std::to_string(taken.offloads.size()) +
           " offloads switched off" + remark + (wish.host ? "" : cut_off(taken));
  });
}

std::string retake_interface(const PlanPort& port, const InterfaceWish& wish,
                             const std::string& run_dir, const InUse& in_use) {
  const auto link = find_link(wish.interface);
  // It was away in another namespace and has kept what it was called.
  if (link && link->alias == std::string(kAliasStart) + run_dir) set_alias(link->index, "");
  return take_interface(port, wish, run_dir, in_use);
}

bool hold_down(const std::string& run_dir, const std::string& interface, bool down) noexcept {
  const std::string path = held_down_path(run_dir, interface);
  const auto link = find_link(interface);
  if (!link) return false;
  if (down) std::ofstream(path).put('\n');  // first: it is undone whenever we die
  const bool done = set_up(link->index, !down) == 0;
  if (down != done) ::unlink(path.c_str());
  return done;
}

bool is_held_down(const std::string& run_dir, const std::string& interface) noexcept {
  return ::access(held_down_path(run_dir, interface).c_str(), F_OK) == 0;
}

bool sees_interfaces_of(const std::string& run_dir) {
  const std::vector<Taken> all = read_record(run_dir);
  return std::ranges::any_of(all,
                             [](const Taken& taken) { return taken.netns == network_namespace(); });
}

std::optional<std::uint32_t> taken_index(const std::string& run_dir, const std::string& interface) {
  std::optional<std::uint32_t> index;
  for (const Taken& taken : read_record(run_dir)) {
    if (taken.interface == interface) index = taken.index;
  }
  return index;
}

void give_back_interfaces(const std::string& run_dir) noexcept {
  try {
    for (const Taken& taken : read_record(run_dir)) {
      const bool here = taken.netns == network_namespace();
      if (here && is_held_down(run_dir, taken.interface)) {
        hold_down(run_dir, taken.interface, false);
      }
      give_back(taken);
    }
  } catch (const std::exception&) {
    return;  // no right to: the record stays for somebody who has it
  }
  ::unlink(record_path(run_dir).c_str());
}

std::uint32_t interface_index(const std::string& interface) {
  const std::uint32_t index = ::if_nametoindex(interface.c_str());
  if (index == 0) throw not_found(interface);
  return index;
}

}  // namespace millrace
