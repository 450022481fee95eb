// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/group_reports.hpp"

#include <algorithm>
#include <array>

#include "shared/base/ip_protocol.hpp"
#include "shared/packet/ipv6_checksum.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using ip_protocol::kHopByHop, ip_protocol::kIcmpv6;
using ipv6_wire::kEthernetBytes, ipv6_wire::kFrontBytes;
using wire_bytes::put16, wire_bytes::put32, wire_bytes::put_array;

constexpr std::uint8_t kQuery = 130, kReportOld = 131, kReport = 143;
constexpr std::uint8_t kIsExclude = 2, kChangeToExclude = 4;  // kinds of records, RFC 3810 5.2.12
constexpr std::size_t kOptionsBytes = 8;                      // hop-by-hop, with a router alert
constexpr std::size_t kMessageAt = kFrontBytes + kOptionsBytes;
constexpr std::size_t kReportBytes = 8, kRecordBytes = 20;  // a record without sources
constexpr std::size_t kOldBytes = 24, kQueryBytes = 28;
constexpr std::uint32_t kRouterAlert = 0x05020000;  // of MLD (RFC 2711)
constexpr std::size_t kGroupsAtOnce = 60;           // of a frame of 1,280 bytes
/// All of version 2 hear reports there (RFC 3810 5.2.14).
constexpr Ipv6Bytes kAllSnoopers = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16};
/// Between announcements of addresses, which fill a batch's side list best alone.
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::array<std::uint64_t, 2> kReportsNs = {2 * kSecondNs, 4 * kSecondNs};

void add(std::vector<Ipv6Bytes>& groups, const Ipv6Bytes& group) {
  if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
}

/// RFC 4291 2.8: those of a router, but for all nodes, which is never told of.
std::vector<Ipv6Bytes> groups_of(const RouterPort& port) {
  std::vector<Ipv6Bytes> groups;
  if (port.ipv6.empty() || port.host >= 0) return groups;
  add(groups, kIpv6AllRouters);
  add(groups, solicited_node(port.link_local));
  for (const PortIpv6& own : port.ipv6) {
    add(groups, solicited_node(own.address));
    const Ipv6Bytes network = ipv6_prefix_of(own.address, own.length);
    if (port.is_anycast(network)) add(groups, solicited_node(network));
  }
  return groups;
}

std::span<std::byte> frame_beside(const FinishContext& call, std::uint16_t packet,
                                  std::uint8_t port, std::size_t bytes) noexcept {
  return call.batch.side.add({.packet = packet,
                              .kind = static_cast<std::uint8_t>(SideKind::kSend),
                              .port = port,
                              .why = static_cast<std::uint8_t>(Reason::kAnnounce)},
                             bytes);
}

/// What is in front of a message that is complete but for its checksum, and that.
void finish(std::span<std::byte> frame, const RouterPort& port, const Ipv6Bytes& to) noexcept {
  const std::span<std::byte> message = frame.subspan(kMessageAt);
  put_ethernet(frame, port.mac, multicast_mac(to), ipv6_wire::kEtherType);
  put_ipv6(frame.subspan(kEthernetBytes),
           {.next_header = kHopByHop, .hop_limit = 1, .source = port.link_local, .destination = to},
           kOptionsBytes + message.size());
  const std::span<std::byte> options = frame.subspan(kFrontBytes, kOptionsBytes);
  put16(options, 0, std::uint16_t{kIcmpv6} << 8);
  put32(options, 2, kRouterAlert);
  put16(options, 6, 0x0100);  // padding of two bytes
  put16(message, 2, 0);
  put16(message, 2, ipv6_checksum(port.link_local, to, kIcmpv6, message));
}

}  // namespace

GroupReports::GroupReports(const RouterPorts& ports) : ports_(ports) {
  for (std::size_t number = 0; number <= UINT8_MAX; ++number) {
    const RouterPort* const port = ports.at(static_cast<std::uint8_t>(number));
    if (port == nullptr) break;
    groups_.push_back(groups_of(*port));
  }
}

/// RFC 3810 6.2: from a link-local address, with a hop limit of 1 and a router alert. Both versions
/// are told apart by their length (8.1).
bool GroupReports::parse(std::span<const std::byte> frame, Query& query) noexcept {
  if (frame.size() < kMessageAt + kOldBytes) return false;
  const std::span<const std::byte> ip = frame.subspan(kEthernetBytes);
  const std::size_t payload = wire_bytes::u16(ip, ipv6_wire::kPayloadLengthAt);
  const auto source = wire_bytes::array_at<Ipv6Bytes>(ip, ipv6_wire::kSourceAt);
  const auto destination = wire_bytes::array_at<Ipv6Bytes>(ip, ipv6_wire::kDestinationAt);
  if (wire_bytes::u8(ip, ipv6_wire::kNextHeaderAt) != kHopByHop ||
      wire_bytes::u8(ip, ipv6_wire::kHopLimitAt) != 1 || !is_link_local(source) ||
      payload < kOptionsBytes + kOldBytes || payload > ip.size() - ipv6_wire::kHeaderBytes) {
    return false;
  }
  const std::span<const std::byte> options = frame.subspan(kFrontBytes, kOptionsBytes);
  const bool alerts =
      wire_bytes::u32(options, 2) == kRouterAlert || wire_bytes::u32(options, 4) == kRouterAlert;
  if (wire_bytes::u16(options, 0) != std::uint16_t{kIcmpv6} << 8 || !alerts) return false;
  const std::span<const std::byte> message = frame.subspan(kMessageAt, payload - kOptionsBytes);
  if (wire_bytes::u8(message, 0) != kQuery || wire_bytes::u8(message, 1) != 0 ||
      (message.size() != kOldBytes && message.size() < kQueryBytes) ||
      ipv6_checksum(source, destination, kIcmpv6, message) != 0) {
    return false;
  }
  query = {.is_old = message.size() == kOldBytes,
           .group = wire_bytes::array_at<Ipv6Bytes>(message, 8)};
  return true;
}

bool GroupReports::answer(const FinishContext& call, std::uint16_t packet) noexcept {
  const std::uint8_t port = call.facts.port_in;
  if (port >= groups_.size() || groups_[port].empty()) return false;
  Query query;
  if (!parse(call.batch.bytes(packet), query)) return false;
  std::span<const Ipv6Bytes> asked = groups_[port];
  if (!is_unspecified(query.group)) {
    const auto at = std::ranges::find(groups_[port], query.group);
    asked = asked.subspan(static_cast<std::size_t>(at - groups_[port].begin()),
                          at == groups_[port].end() ? 0 : 1);
  }
  if (!query.is_old) {
    report(call, packet, port, asked, kIsExclude);
  } else {
    for (const Ipv6Bytes& group : asked) {
      if (!report_old(call, packet, port, group)) break;
    }
  }
  call.batch.consume(packet, Reason::kControl);
  return true;
}

bool GroupReports::tick(const FinishContext& call, std::uint16_t packet,
                        const Tick& now) const noexcept {
  if (std::ranges::none_of(kReportsNs, [&](std::uint64_t at) { return now.covers(at); })) {
    return true;
  }
  bool all = true;
  for (std::size_t port = 0; port < groups_.size(); ++port) {
    all = report(call, packet, static_cast<std::uint8_t>(port), groups_[port], kChangeToExclude) &&
          all;
  }
  return all;
}

/// Of version 2: `groups`, each listened to whatever the source is.
bool GroupReports::report(const FinishContext& call, std::uint16_t packet, std::uint8_t port,
                          std::span<const Ipv6Bytes> groups, std::uint8_t kind) const noexcept {
  while (!groups.empty()) {
    const auto some = groups.first(std::min(groups.size(), kGroupsAtOnce));
    groups = groups.subspan(some.size());
    const std::span<std::byte> frame =
        frame_beside(call, packet, port, kMessageAt + kReportBytes + some.size() * kRecordBytes);
    if (frame.empty()) return false;
    const std::span<std::byte> message = frame.subspan(kMessageAt);
    put32(message, 0, std::uint32_t{kReport} << 24);
    put32(message, 4, static_cast<std::uint32_t>(some.size()));
    std::size_t at = kReportBytes;
    for (const Ipv6Bytes& group : some) {
      put32(message, at, std::uint32_t{kind} << 24);
      put_array(message, at + 4, group);
      at += kRecordBytes;
    }
    finish(frame, *ports_.at(port), kAllSnoopers);
  }
  return true;
}

/// Of version 1: to the group itself.
bool GroupReports::report_old(const FinishContext& call, std::uint16_t packet, std::uint8_t port,
                              const Ipv6Bytes& group) const noexcept {
  const std::span<std::byte> frame = frame_beside(call, packet, port, kMessageAt + kOldBytes);
  if (frame.empty()) return false;
  const std::span<std::byte> message = frame.subspan(kMessageAt);
  put32(message, 0, std::uint32_t{kReportOld} << 24);
  put32(message, 4, 0);
  put_array(message, 8, group);
  finish(frame, *ports_.at(port), group);
  return true;
}

}  // namespace millrace
