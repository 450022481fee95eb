// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_image.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

std::uint64_t align_up(std::uint64_t at, std::uint64_t to) { return (at + to - 1) / to * to; }

template <typename T>
std::span<const T> part(std::span<const std::byte> image, std::uint64_t at, std::uint64_t count) {
  return {reinterpret_cast<const T*>(image.data() + at), count};
}

void check_counts(const RouteHeader& header) {
  // Of IPv4 there is the broadcast address of its network beside each.
  if (header.own_count > 2 * kOwnAddressMax || header.port_count > kPortCountMax ||
      header.hop_count < kHopFirst || header.hop_count > kHopFirst + kHopCountMax ||
      header.block_count > kBlockCountMax || header.member_count > kMemberCountMax ||
      header.ipv6_own_count > kOwnAddressMax || header.ipv6_node_count > kIpv6NodeCountMax ||
      header.ipv6_run_count > kIpv6RunCountMax || header.ipv6_first_chunk > header.ipv6_run_count ||
      header.fixed_count > kPrefixCountMax || header.journal_count > kJournalCountMax ||
      (header.journal_count & (header.journal_count - 1)) != 0) {
    throw Error("route image: a count above its limit");
  }
}

bool is_group(const RouteHop& hop) {
  return hop.kind == static_cast<std::uint8_t>(RouteHopKind::kGroup);
}

bool forwards(const RouteHop& hop) {
  return hop.reason == static_cast<std::uint8_t>(RouteReason::kNone);
}

/// It has members, each flow hash has one of them, and each is a next hop itself.
bool is_whole_group(const RouteTable& table, const RouteHop& group) {
  if (group.member_count == 0 || group.member_count > kRouteMembersMax ||
      group.first_member > table.members.size() ||
      group.member_count > table.members.size() - group.first_member) {
    return false;
  }
  const auto members = table.members.subspan(group.first_member, group.member_count);
  const auto is_hop = [&](const RouteMember& member) {
    return member.hop < table.hops.size() && !is_group(table.hops[member.hop]) &&
           forwards(table.hops[member.hop]);
  };
  return std::ranges::adjacent_find(members, std::ranges::greater_equal{}, &RouteMember::last) ==
             members.end() &&
         members.back().last == UINT32_MAX && std::ranges::all_of(members, is_hop);
}

void check_hops(const RouteTable& table) {
  const HopsNow now = hops_now(table);
  if (now.used < kHopFirst || now.used > table.hops.size() || now.default_hop >= now.used ||
      now.ipv6_default_hop >= now.used) {
    throw Error("route image: more next hops than it has room for");
  }
  for (const RouteHop& hop : table.hops.first(now.used)) {
    if (hop.reason >= static_cast<std::uint8_t>(RouteReason::kCount) ||
        hop.kind > static_cast<std::uint8_t>(RouteHopKind::kGroup) ||
        (forwards(hop) && !is_group(hop) && hop.port >= table.ports.size())) {
      throw Error("route image: a next hop out of range");
    }
    if (is_group(hop) && !is_whole_group(table, hop)) {
      throw Error("route image: a group whose members are none");
    }
  }
  for (const auto& name : table.ports) {
    if (name.back() != '\0') throw Error("route image: a port name without end");
  }
}

Ipv6Routes view_ipv6(std::span<const std::byte> image, const RouteHeader& header) {
  if (header.ipv6_run_count == 0) return {};
  return {
      .table24 = part<std::uint32_t>(image, header.ipv6_table24_at, kIpv6Table24Entries).data(),
      .nodes = part<Ipv6Node>(image, header.ipv6_nodes_at, header.ipv6_node_count).data(),
      .runs = part<std::uint32_t>(image, header.ipv6_runs_at, header.ipv6_run_count).data(),
      .own = part<Ipv6Address>(image, header.ipv6_own_at, header.ipv6_own_count).data(),
      .own_filter = part<OwnFilter>(image, kOwnFiltersAt, 2).data() + 1,
      .own_count = header.ipv6_own_count,
  };
}

/// Behind `bytes`, which grows.
void lay_out_ipv6(RouteHeader& header, std::uint64_t& bytes) {
  header.ipv6_table24_at = align_up(bytes, kImagePageBytes);
  header.ipv6_nodes_at = header.ipv6_table24_at + kIpv6Table24Entries * sizeof(std::uint32_t);
  header.ipv6_runs_at = header.ipv6_nodes_at + header.ipv6_node_count * sizeof(Ipv6Node);
  header.ipv6_own_at =
      align_up(header.ipv6_runs_at + header.ipv6_run_count * sizeof(std::uint32_t), 8);
  bytes = header.ipv6_own_at + header.ipv6_own_count * sizeof(Ipv6Address);
}

}  // namespace

RouteHeader lay_out_route_image(RouteHeader header, std::uint64_t& bytes) {
  header.own_at = kOwnFiltersAt + 2 * sizeof(OwnFilter);
  header.ports_at = header.own_at + align_up(header.own_count * sizeof(std::uint32_t), 8);
  header.hops_at = header.ports_at + std::uint64_t{header.port_count} * kPortNameBytes;
  header.members_at = header.hops_at + header.hop_count * sizeof(RouteHop);
  header.journal_at =
      align_up(header.members_at + header.member_count * sizeof(RouteMember), alignof(RouteLive));
  header.table24_at =
      align_up(header.journal_at + std::uint64_t{header.journal_count} * sizeof(LiveRecord),
               kImagePageBytes);
  header.blocks_at = header.table24_at + kTable24Entries * sizeof(std::uint32_t);
  bytes =
      header.blocks_at + std::uint64_t{header.block_count} * kBlockEntries * sizeof(std::uint32_t);
  if (header.ipv6_run_count != 0) lay_out_ipv6(header, bytes);
  header.fixed_at = align_up(bytes, 8);
  bytes = header.fixed_at + header.fixed_count * sizeof(FixedRoute);
  return header;
}

HopsNow hops_now(const RouteTable& table) noexcept {
  HopsNow now{.used = static_cast<std::uint32_t>(table.hops.size())};
  if (table.live == nullptr) return now;
  const auto word = [](const std::uint32_t& at) { return __atomic_load_n(&at, __ATOMIC_ACQUIRE); };
  const std::uint32_t default_hop = word(table.live->default_hop);
  const std::uint32_t ipv6_default_hop = word(table.live->ipv6_default_hop);
  now.default_hop = default_hop;
  if (ipv6_default_hop != 0) now.ipv6_default_hop = ipv6_default_hop;
  if (const std::uint32_t used = word(table.live->hops_used); used != 0) now.used = used;
  return now;
}

std::optional<RouteLive> read_route_live(const std::string& path) {
  if (read_image_header(path).live == 0) return std::nullopt;
  const MappedImage image(path, kRouteImage);
  const RouteTable table = view_route_image(image.bytes());
  MILLRACE_CHECK(table.live != nullptr);
  return *table.live;
}

RouteTable view_route_image(std::span<const std::byte> image) {
  if (image.size() < kOwnFiltersAt + 2 * sizeof(OwnFilter)) {
    throw Error("route image: shorter than its header");
  }
  RouteHeader header{};
  std::memcpy(&header, image.data() + sizeof(ImageHeader), sizeof header);
  check_counts(header);
  std::uint64_t bytes = 0;
  const RouteHeader expected = lay_out_route_image(header, bytes);
  if (std::memcmp(&header, &expected, sizeof header) != 0 || bytes > image.size()) {
    throw Error("route image: its parts are not where its counts put them");
  }
  RouteTable table;
  table.live = part<RouteLive>(image, kRouteLiveAt, 1).data();
  table.table24 = part<std::uint32_t>(image, header.table24_at, kTable24Entries).data();
  table.blocks = part<std::uint32_t>(image, header.blocks_at, header.block_count).data();
  table.own_filter = part<OwnFilter>(image, kOwnFiltersAt, 2).data();
  table.own = part<std::uint32_t>(image, header.own_at, header.own_count);
  table.hops = part<RouteHop>(image, header.hops_at, header.hop_count);
  table.members = part<RouteMember>(image, header.members_at, header.member_count);
  table.ports = part<std::array<char, kPortNameBytes>>(image, header.ports_at, header.port_count);
  table.ipv6 = view_ipv6(image, header);
  table.fixed = part<FixedRoute>(image, header.fixed_at, header.fixed_count);
  table.journal = part<LiveRecord>(image, header.journal_at, header.journal_count);
  check_hops(table);
  return table;
}

}  // namespace millrace
