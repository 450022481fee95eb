// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/routes/kernel_events.hpp"

#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>

#include "shared/base/error.hpp"
#include "shared/base/kernel_table.hpp"
#include "shared/base/netlink.hpp"

namespace millrace {
namespace {

// The kernel tells a table of a million routes in 200 MB; they wait here until they are read.
constexpr int kSocketBytes = 256 << 20;
constexpr int kSocketBytesSmall = 8 << 20;
constexpr std::size_t kReceiveBytes = 64 * 1024;
constexpr int kReadsMax = 256;  // of one call
// The flags that say whether routes by the interface are in use.
constexpr std::uint32_t kFlagsThatMatter = IFF_UP | IFF_RUNNING;

void join(int socket, int group) {
  if (::setsockopt(socket, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0) {
    throw system_error("listen to the kernel's routes", errno);
  }
}

}  // namespace

KernelEvents::KernelEvents()
    : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)),
      buffer_(kReceiveBytes) {
  if (!socket_) throw system_error("open a netlink socket", errno);
  const int fd = socket_.get();
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBytes, sizeof kSocketBytes) != 0) {
    ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBytesSmall, sizeof kSocketBytesSmall);
  }
  // Without a number of its own it would be taken for the kernel, which is not told what it said.
  const sockaddr_nl address{.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw system_error("bind a netlink socket", errno);
  }
  for (const int group : {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE, RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR,
                          RTNLGRP_IPV6_IFADDR, RTNLGRP_NEXTHOP}) {
    join(fd, group);
  }
}

KernelEvents::Heard KernelEvents::read(
    const std::function<void(std::span<const std::byte> message)>& visit) {
  Heard heard;
  const KernelTold told =
      read_kernel_changes(socket_.get(), buffer_, kReadsMax,
                          [&](const nlmsghdr& header, std::span<const std::byte> message) {
                            take(header, message, heard, visit);
                          });
  heard.lost = told.lost;
  heard.more = told.more;
  return heard;
}

bool KernelEvents::discard(const std::function<void()>& alive) {
  bool lost = false;
  for (bool more = true; more;) {
    const Heard heard = read([](std::span<const std::byte>) {});
    lost |= heard.lost;
    more = heard.more;
    alive();
  }
  return lost;
}

void KernelEvents::take(const nlmsghdr& header, std::span<const std::byte> message, Heard& heard,
                        const std::function<void(std::span<const std::byte>)>& visit) {
  switch (header.nlmsg_type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      visit(message);
      break;
    case RTM_NEWLINK:
    case RTM_DELLINK:
      heard.disturbed |= link_changed(message, header.nlmsg_type == RTM_DELLINK);
      break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      heard.disturbed = true;
      break;
    default:
      break;
  }
}

/// Whether the link has changed for routes. The kernel tells of links for many other reasons:
/// names, statistics, neighbours of a bridge.
bool KernelEvents::link_changed(std::span<const std::byte> message, bool gone) {
  ifinfomsg link{};
  if (!read_body(message, link)) return true;
  if (gone) {
    flags_.erase(link.ifi_index);
    return true;
  }
  const std::uint32_t flags = link.ifi_flags & kFlagsThatMatter;
  const auto [at, fresh] = flags_.try_emplace(link.ifi_index, flags);
  const bool changed = fresh || at->second != flags;
  at->second = flags;
  return changed;
}

}  // namespace millrace
