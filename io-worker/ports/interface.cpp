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
#include "io-worker/ports/taken.hpp"
#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/nearest.hpp"
#include "shared/base/run_words.hpp"

namespace millrace {
namespace {

std::string held_down_path(const std::string& run_dir, const std::string& interface) {
  return taken_path(run_dir) + ".down." + interface;
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

/// An address of the kernel on the interface that is more than link-local; empty: none.
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

/// Addresses that the kernel's stack would lose when the interface is cut off from it; also those
/// of bridges, bonds, VLAN and macvlan over the interface.
std::optional<AddressTrouble> trouble_of(const PlanPort& port, const Link& link) {
  const std::string called = "interface '" + link.name + "' ";
  const std::string host = port.device == "afpacket" ? ", or host: true at port '" + port.name +
                                                           "', so that the kernel receives too"
                                                     : "";
  const std::string own = kernel_address(link.name);
  if (!own.empty()) {
    return AddressTrouble{called + "has the address " + own + ", which this host would lose",
                          "ip address flush dev " + link.name + host};
  }
  for (const Link& over : links_over(link)) {
    const std::string address = kernel_address(over.name);
    if (address.empty()) continue;
    const bool master = over.index == link.master;
    return AddressTrouble{
        called + (master ? "is part of '" : "is under '") + over.name + "', whose address " +
            address + " this host would lose",
        (master ? "ip link set " + link.name + " nomaster" : "ip address flush dev " + over.name) +
            host};
  }
  return std::nullopt;
}

Link check_link(const PlanPort& port, const InterfaceWish& wish) {
  const std::string& name = wish.interface;
  const std::string called = "interface '" + name + "' ";
  const auto link = find_link(name);
  if (!link) throw not_found(name);
  if (link->name != name) {
    throw Error(called + "is the interface '" + link->name +
                "' by another name of it: interface: " + link->name + " at port '" + port.name +
                "'");
  }
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
  const auto trouble = wish.host ? std::nullopt : trouble_of(port, *link);
  if (trouble) throw Error(trouble->found + ": " + trouble->mend);
  return *link;
}

/// Refuses an interface of another topology that runs; mends one that a killed topology left.
void check_owner(const Link& link, const std::string& interface, const std::string& run_dir,
                 const InUse& in_use) {
  if (!link.alias.starts_with(kTakenAlias)) return;
  const std::string other = link.alias.substr(kTakenAlias.size());
  if (other == run_dir) {
    if (!taken_index(run_dir, interface)) return;  // of a run whose directory was removed
    throw Error("interface '" + interface + "' is another port of this topology already");
  }
  if (in_use(other)) {
    throw Error("interface '" + interface + "' is taken by the topology in " + other +
                ": millrace down " + words_for_run_in(other));
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

/// Undoes the changes, the alias last: it was the first change, so without it nothing was changed.
/// Finds the interface by its index, as it may have got another name since.
void give_back(const TakenInterface& taken) {
  const auto link = find_taken(taken);
  if (!link) return;
  remove_cut(taken.index);
  if (taken.own_clsact) remove_clsact(taken.index);
  const Ethtool ethtool(link->name);
  ethtool.set_features(taken.offloads, true);
  if (taken.rx_queues != 0) ethtool.set_rx_queues(taken.rx_queues);
  if (const int error = set_alias(taken.index, taken.alias); error != 0) {
    throw not_allowed(link->name, "give back", error);
  }
}

/// Keeps the kernel's own stack from what arrives. Returns a remark, or nothing.
std::string cut_off(const TakenInterface& taken) {
  int error = taken.own_clsact ? add_clsact(taken.index) : 0;
  if (error == 0 || error == EEXIST) error = add_cut(taken.index);
  if (error == 0 || error == EEXIST) return "";
  if (error == EPERM) throw not_allowed(taken.interface, "cut off", error);
  return "; the kernel's own stack sees its packets too (no cls_bpf in this kernel)";
}

/// Switches off the unwanted offloads. Returns a remark about those that stay on, or nothing.
std::string switch_off(const TakenInterface& taken, const InterfaceWish& wish) {
  const Ethtool ethtool(taken.interface);
  ethtool.set_features(taken.offloads, false);
  std::string left;
  for (const Ethtool::Feature& feature : ethtool.features()) {
    if (is_unwanted(feature, wish)) left += " " + feature.name;
  }
  return left.empty() ? "" : "; stay on and are made good:" + left;
}

/// Sets as many receive queues as the port has: a packet in any other would not be seen.
void set_queues(const TakenInterface& taken, std::uint32_t wanted) {
  if (taken.rx_queues == 0) return;
  const int error = Ethtool(taken.interface).set_rx_queues(wanted);
  if (error == 0) return;
  const std::string count = std::to_string(taken.rx_queues);
  throw Error("interface '" + taken.interface + "' spreads packets over " + count +
              " receive queues, the port has " + std::to_string(wanted) +
              ", and its driver does not change that: queues: " + count);
}

}  // namespace

bool is_unwanted(const Ethtool::Feature& feature, const InterfaceWish& wish) {
  if (wish.super_frames && feature.name.starts_with("tx-")) return false;
  return feature.active && is_harmful_offload(feature.name);
}

std::string take_interface(const PlanPort& port, const InterfaceWish& wish,
                           const std::string& run_dir, const InUse& in_use) {
  const std::string& name = wish.interface;
  return while_doing("port '" + port.name + "' (" + port.device + ")", [&] {
    check_owner(check_link(port, wish), name, run_dir, in_use);
    const Link link = check_link(port, wish);  // as it was before a killed topology had it
    TakenInterface taken{.netns = network_namespace(), .index = link.index, .interface = name};
    const bool marked = link.alias.starts_with(kTakenAlias);  // what it was before is not known
    taken.own_clsact = !wish.host && (marked || !has_clsact(link.index));
    if (!marked) taken.alias = link.alias;
    for (const Ethtool::Feature& feature : Ethtool(name).features()) {
      if (!feature.fixed && is_unwanted(feature, wish)) {
        taken.offloads.push_back(feature.name);
      }
    }
    const std::uint32_t queues = wish.rx_queues != 0 ? Ethtool(name).rx_queues() : 0;
    if (queues != wish.rx_queues) taken.rx_queues = queues;
    append_taken(run_dir, taken);
    if (const int error = set_alias(link.index, std::string(kTakenAlias) + run_dir); error != 0) {
      throw not_allowed(name, "mark", error);
    }
    const std::string remark = switch_off(taken, wish);
    set_queues(taken, wish.rx_queues);
    return "interface " + name + " taken, " + std::to_string(taken.offloads.size()) +
           " offloads switched off" + remark + (wish.host ? "" : cut_off(taken));
  });
}

std::string retake_interface(const PlanPort& port, const InterfaceWish& wish,
                             const std::string& run_dir, const InUse& in_use) {
  const auto link = find_link(wish.interface);
  // The interface was in another namespace and has kept its alias.
  if (link && link->alias == std::string(kTakenAlias) + run_dir) set_alias(link->index, "");
  return take_interface(port, wish, run_dir, in_use);
}

bool hold_down(const std::string& run_dir, const std::string& interface, bool down) noexcept {
  const std::string path = held_down_path(run_dir, interface);
  const auto link = find_link(name_now(run_dir, interface));
  if (!link) return false;
  if (down) std::ofstream(path).put('\n');  // first: a crash behind this line is undone
  const bool done = set_up(link->index, !down) == 0;
  if (down != done) ::unlink(path.c_str());
  return done;
}

bool is_held_down(const std::string& run_dir, const std::string& interface) noexcept {
  return ::access(held_down_path(run_dir, interface).c_str(), F_OK) == 0;
}

void give_back_interfaces(const std::string& run_dir) noexcept {
  try {
    for (const TakenInterface& taken : read_taken(run_dir)) {
      const bool here = taken.netns == network_namespace();
      if (here && is_held_down(run_dir, taken.interface)) {
        hold_down(run_dir, taken.interface, false);
      }
      give_back(taken);
    }
  } catch (const std::exception&) {
    return;  // without the right to do so: the record stays for a user that has it
  }
  ::unlink(taken_path(run_dir).c_str());
}

std::optional<AddressTrouble> address_trouble(const PlanPort& port, const InterfaceWish& wish) {
  const auto link = find_link(wish.interface);
  return link && !wish.host ? trouble_of(port, *link) : std::nullopt;
}

std::string mtu_warning(const std::string& port, std::uint32_t port_mtu,
                        const std::string& interface, std::uint32_t interface_mtu) {
  if (interface_mtu == port_mtu) return "";
  const auto set_to = [&](std::uint32_t mtu) {
    return "ip link set " + interface + " mtu " + std::to_string(mtu);
  };
  const std::string both = "interface '" + interface + "' has MTU " +
                           std::to_string(interface_mtu) + ", the mtu of port '" + port + "' is " +
                           std::to_string(port_mtu) + ": longer packets ";
  if (interface_mtu < port_mtu) return both + "do not leave there; " + set_to(port_mtu);
  std::string mend;
  if (port_mtu < kMtuMax) {
    if (interface_mtu > kMtuMax) mend = set_to(kMtuMax) + " and ";
    mend +=
        "mtu: " + std::to_string(std::min(interface_mtu, kMtuMax)) + " at port '" + port + "', or ";
  }
  return both + "that arrive there are lost; " + mend + set_to(port_mtu);
}

std::uint32_t interface_index(const std::string& interface) {
  const std::uint32_t index = ::if_nametoindex(interface.c_str());
  if (index == 0) throw not_found(interface);
  return index;
}

}  // namespace millrace
