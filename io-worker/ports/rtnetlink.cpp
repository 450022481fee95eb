// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/rtnetlink.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "shared/base/check.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kClsact = TC_H_CLSACT & 0xffff0000u;
constexpr std::uint32_t kIngressHook = kClsact | TC_H_MIN_INGRESS;
constexpr std::uint32_t kCutPriority = 0x4d52;  // "MR": the filter is found again by it
constexpr std::uint32_t kCutHandle = 1;

/// One message under construction, then its answer.
class Message {
 public:
  template <typename Body>
  Message(std::uint16_t type, std::uint16_t flags, const Body& body) {
    header().nlmsg_type = type;
    header().nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    header().nlmsg_len = NLMSG_LENGTH(sizeof body);
    std::memcpy(NLMSG_DATA(&header()), &body, sizeof body);
  }

  /// Returns where the attribute starts, for close().
  std::size_t add(std::uint16_t type, const void* data, std::size_t bytes) noexcept {
    const std::size_t at = NLMSG_ALIGN(header().nlmsg_len);
    MILLRACE_CHECK(at + RTA_LENGTH(bytes) <= buffer_.size());
    auto* attribute = reinterpret_cast<rtattr*>(buffer_.data() + at);
    attribute->rta_type = type;
    attribute->rta_len = static_cast<unsigned short>(RTA_LENGTH(bytes));
    if (bytes != 0) std::memcpy(RTA_DATA(attribute), data, bytes);
    header().nlmsg_len = static_cast<std::uint32_t>(at + RTA_ALIGN(attribute->rta_len));
    return at;
  }
  /// Ends an attribute that encloses all attributes added since.
  void close(std::size_t at) noexcept {
    reinterpret_cast<rtattr*>(buffer_.data() + at)->rta_len =
        static_cast<unsigned short>(header().nlmsg_len - at);
  }

  /// Sends it and takes the answer in its place. errno, or 0.
  int send() noexcept {
    const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket) return errno;
    if (::send(socket.get(), buffer_.data(), header().nlmsg_len, 0) < 0) return errno;
    const ssize_t got = ::recv(socket.get(), buffer_.data(), buffer_.size(), 0);
    if (got < 0) return errno;
    if (!NLMSG_OK(&header(), static_cast<std::uint32_t>(got))) return EPROTO;
    if (header().nlmsg_type != NLMSG_ERROR) return 0;
    return -static_cast<const nlmsgerr*>(NLMSG_DATA(&header()))->error;
  }
  nlmsghdr& header() noexcept { return *reinterpret_cast<nlmsghdr*>(buffer_.data()); }

 private:
  alignas(nlmsghdr) std::array<std::byte, 16384> buffer_{};  // all facts of a link fit
};

tcmsg clsact_of(std::uint32_t index) noexcept {
  tcmsg body{};
  body.tcm_family = AF_UNSPEC;
  body.tcm_ifindex = static_cast<int>(index);
  body.tcm_handle = kClsact;
  body.tcm_parent = TC_H_CLSACT;
  return body;
}

tcmsg cut_of(std::uint32_t index) noexcept {
  tcmsg body = clsact_of(index);
  body.tcm_handle = kCutHandle;
  body.tcm_parent = kIngressHook;
  body.tcm_info = kCutPriority << 16 | htons(ETH_P_ALL);
  return body;
}

/// The other end of a virtual cable: the kernel reports it as an interface over this one, and it is
/// none.
bool is_cable(const rtattr* info) {
  auto bytes = static_cast<std::uint32_t>(RTA_PAYLOAD(info));
  for (const auto* at = static_cast<const rtattr*>(RTA_DATA(info)); RTA_OK(at, bytes);
       at = RTA_NEXT(at, bytes)) {
    if (at->rta_type != IFLA_INFO_KIND) continue;
    const std::string_view kind(static_cast<const char*>(RTA_DATA(at)));
    return kind == "veth" || kind == "netkit";
  }
  return false;
}

/// The answer to RTM_GETLINK.
std::optional<Link> ask(Message& message) {
  if (message.send() != 0 || message.header().nlmsg_type != RTM_NEWLINK) return std::nullopt;
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(&message.header()));
  Link link{.index = static_cast<std::uint32_t>(info->ifi_index),
            .flags = info->ifi_flags,
            .type = info->ifi_type};
  bool elsewhere = false;  // what it lies on is in another network namespace, or no such thing
  auto bytes = static_cast<std::uint32_t>(IFLA_PAYLOAD(&message.header()));
  for (const rtattr* at = IFLA_RTA(info); RTA_OK(at, bytes); at = RTA_NEXT(at, bytes)) {
    const auto* data = static_cast<const char*>(RTA_DATA(at));
    if (at->rta_type == IFLA_IFNAME) link.name.assign(data, ::strnlen(data, RTA_PAYLOAD(at)));
    if (at->rta_type == IFLA_MTU) std::memcpy(&link.mtu, data, sizeof link.mtu);
    if (at->rta_type == IFLA_MASTER) std::memcpy(&link.master, data, sizeof link.master);
    if (at->rta_type == IFLA_LINK) std::memcpy(&link.lower, data, sizeof link.lower);
    if (at->rta_type == IFLA_IFALIAS) link.alias.assign(data, ::strnlen(data, RTA_PAYLOAD(at)));
    elsewhere |= at->rta_type == IFLA_LINK_NETNSID;
    if (at->rta_type == IFLA_LINKINFO) elsewhere |= is_cable(at);
  }
  if (elsewhere) link.lower = 0;
  return link;
}

}  // namespace

std::optional<Link> find_link(const std::string& interface) {
  Message message(RTM_GETLINK, 0, ifinfomsg{});
  message.add(IFLA_IFNAME, interface.c_str(), interface.size() + 1);
  return ask(message);
}

std::optional<Link> find_link(std::uint32_t index) {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(index);
  if (index == 0) return std::nullopt;
  Message message(RTM_GETLINK, 0, body);
  return ask(message);
}

std::vector<Link> links_over(const Link& link) {
  std::vector<Link> all;
  struct if_nameindex* names = ::if_nameindex();
  for (const auto* at = names; at != nullptr && at->if_index != 0; ++at) {
    if (auto one = find_link(at->if_index)) all.push_back(std::move(*one));
  }
  if (names != nullptr) ::if_freenameindex(names);
  std::vector<Link> over = {link};
  for (std::size_t i = 0; i < over.size(); ++i) {  // grows: interfaces over these count too
    const Link below = over[i];
    for (const Link& one : all) {
      const bool on_it = one.index == below.master || one.lower == below.index;
      if (on_it && std::ranges::find(over, one.index, &Link::index) == over.end()) {
        over.push_back(one);
      }
    }
  }
  over.erase(over.begin());
  return over;
}

namespace {

UniqueFd changes_of(std::uint32_t groups) noexcept {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  const auto* bound = reinterpret_cast<const sockaddr*>(&address);
  const bool ready = socket && ::bind(socket.get(), bound, sizeof address) == 0;
  return ready ? std::move(socket) : UniqueFd();
}

}  // namespace

UniqueFd link_changes() noexcept { return changes_of(RTMGRP_LINK); }

// Routes of an interface that comes or goes are told with it, or not at all.
UniqueFd route_changes() noexcept {
  return changes_of(RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_LINK);
}

UniqueFd neighbour_changes() noexcept { return changes_of(RTMGRP_NEIGH | RTMGRP_LINK); }

int set_up(std::uint32_t index, bool up) noexcept {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(index);
  body.ifi_change = IFF_UP;
  body.ifi_flags = up ? IFF_UP : 0;
  return Message(RTM_SETLINK, 0, body).send();
}

std::optional<std::uint64_t> read_tx_dropped(std::uint32_t index) noexcept {
  if_stats_msg body{};
  body.ifindex = index;
  body.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  Message message(RTM_GETSTATS, 0, body);
  if (message.send() != 0 || message.header().nlmsg_type != RTM_NEWSTATS) return std::nullopt;
  const std::size_t head = NLMSG_SPACE(sizeof body);
  if (message.header().nlmsg_len < head + RTA_LENGTH(sizeof(rtnl_link_stats64))) {
    return std::nullopt;
  }
  rtnl_link_stats64 statistics;
  std::memcpy(&statistics, reinterpret_cast<const char*>(&message.header()) + head + RTA_LENGTH(0),
              sizeof statistics);
  return statistics.tx_dropped;
}

int bring_up(std::uint32_t index, const LinkSettings& settings) noexcept {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(index);
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  Message message(RTM_SETLINK, 0, body);
  message.add(IFLA_MTU, &settings.mtu, sizeof settings.mtu);
  message.add(IFLA_TXQLEN, &settings.tx_queue_length, sizeof settings.tx_queue_length);
  message.add(IFLA_ADDRESS, settings.mac.data(), settings.mac.size());
  return message.send();
}

int remove_link(std::uint32_t index) noexcept {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(index);
  return Message(RTM_DELLINK, 0, body).send();
}

std::optional<InterfaceAddress> parse_address(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string head = text.substr(0, slash);
  InterfaceAddress address;
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, head.c_str(), address.bytes.data()) == 1) address.family = family;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, address.prefix_bits);
  const int bits_max = address.family == AF_INET ? 32 : 128;
  if (address.family == 0 || error != std::errc{} || stop != end ||
      address.prefix_bits > bits_max) {
    return std::nullopt;
  }
  return address;
}

int add_address(std::uint32_t index, const InterfaceAddress& address) noexcept {
  ifaddrmsg body{};
  body.ifa_family = static_cast<std::uint8_t>(address.family);
  body.ifa_prefixlen = address.prefix_bits;
  body.ifa_index = index;
  body.ifa_flags = IFA_F_NODAD;  // usable at once: no other host has it
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, body);
  const std::size_t bytes = address.family == AF_INET ? 4 : 16;
  message.add(IFA_LOCAL, address.bytes.data(), bytes);
  message.add(IFA_ADDRESS, address.bytes.data(), bytes);
  return message.send();
}

int set_alias(std::uint32_t index, const std::string& alias) noexcept {
  ifinfomsg body{};
  body.ifi_index = static_cast<int>(index);
  Message message(RTM_SETLINK, 0, body);
  message.add(IFLA_IFALIAS, alias.data(), alias.size());
  return message.send();
}

bool has_clsact(std::uint32_t index) noexcept {
  return Message(RTM_GETQDISC, 0, clsact_of(index)).send() == 0;
}

int add_clsact(std::uint32_t index) noexcept {
  Message message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, clsact_of(index));
  message.add(TCA_KIND, "clsact", sizeof "clsact");
  return message.send();
}

int remove_clsact(std::uint32_t index) noexcept {
  return Message(RTM_DELQDISC, 0, clsact_of(index)).send();
}

int add_cut(std::uint32_t index) noexcept {
  // Classic BPF with direct action needs no capability beyond those for the filter itself.
  const sock_filter drop = {BPF_RET | BPF_K, 0, 0, TC_ACT_SHOT};
  const std::uint16_t length = 1;
  const std::uint32_t flags = TCA_BPF_FLAG_ACT_DIRECT;
  Message message(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, cut_of(index));
  message.add(TCA_KIND, "bpf", sizeof "bpf");
  const std::size_t options = message.add(TCA_OPTIONS, nullptr, 0);
  message.add(TCA_BPF_FLAGS, &flags, sizeof flags);
  message.add(TCA_BPF_OPS_LEN, &length, sizeof length);
  message.add(TCA_BPF_OPS, &drop, sizeof drop);
  message.close(options);
  return message.send();
}

int remove_cut(std::uint32_t index) noexcept {
  Message message(RTM_DELTFILTER, 0, cut_of(index));
  message.add(TCA_KIND, "bpf", sizeof "bpf");
  return message.send();
}

}  // namespace millrace
