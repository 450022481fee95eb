// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/kernel_neighbours.hpp"

#include <sys/socket.h>

#include <cstdint>
#include <cstring>

#include "shared/base/kernel_table.hpp"
#include "shared/base/netlink.hpp"

namespace millrace {
namespace {

constexpr int kReadsMax = 3;  // of a table that changes meanwhile
/// The kernel has a MAC address for it (NUD_VALID of the kernel's own headers).
constexpr std::uint16_t kValid =
    NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;

bool is_fixed(const ndmsg& body) {
  if ((body.ndm_state & (NUD_PERMANENT | NUD_NOARP)) != 0) return true;
  return (body.ndm_flags & NTF_EXT_LEARNED) != 0 && (body.ndm_state & kValid) != 0;
}

}  // namespace

std::optional<KernelNeighbour> parse_kernel_neighbour(std::span<const std::byte> message) {
  nlmsghdr header{};
  ndmsg body{};
  if (!read_body(message, body)) return std::nullopt;
  std::memcpy(&header, message.data(), sizeof header);
  const bool is_new = header.nlmsg_type == RTM_NEWNEIGH;
  if (!is_new && header.nlmsg_type != RTM_DELNEIGH) return std::nullopt;
  if (body.ndm_family != AF_INET && body.ndm_family != AF_INET6) return std::nullopt;
  if ((body.ndm_flags & NTF_PROXY) != 0) return std::nullopt;
  const bool is_ipv4 = body.ndm_family == AF_INET;
  const std::size_t address_bytes = is_ipv4 ? 4 : 16;
  KernelNeighbour one{.interface = body.ndm_ifindex};
  bool has_mac = false;
  for_each_attribute(attributes_behind<ndmsg>(message), [&](const NetlinkAttribute& attribute) {
    if (attribute.type == NDA_DST && attribute.bytes.size() == address_bytes) {
      one.key.family = is_ipv4 ? NeighbourFamily::kIpv4 : NeighbourFamily::kIpv6;
      std::memcpy(one.key.address.data(), attribute.bytes.data(), address_bytes);
    } else if (attribute.type == NDA_LLADDR && attribute.bytes.size() == one.mac.size()) {
      std::memcpy(one.mac.data(), attribute.bytes.data(), one.mac.size());
      has_mac = true;
    }
  });
  if (one.key.family == NeighbourFamily::kNone) return std::nullopt;
  // Those of groups are the kernel's own, without ARP.
  one.fixed = is_new && is_fixed(body) && has_mac && is_station(one.mac);
  if (!one.fixed) one.mac = {};
  return one;
}

std::vector<KernelNeighbour> read_kernel_neighbours() {
  std::vector<KernelNeighbour> neighbours;
  for (int tried = 1;; ++tried) {
    neighbours.clear();
    const bool whole = read_kernel_table(KernelTable::kNeighbours,
                                         [&](const nlmsghdr&, std::span<const std::byte> message) {
                                           const auto one = parse_kernel_neighbour(message);
                                           if (one && one->fixed) neighbours.push_back(*one);
                                         });
    if (whole || tried == kReadsMax) return neighbours;
  }
}

}  // namespace millrace
