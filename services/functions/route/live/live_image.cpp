// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_image.hpp"

#include <algorithm>
#include <cstring>

#include "services/functions/route/live/store_live.hpp"

namespace millrace {

LiveRouteImage::LiveRouteImage(const std::string& path)
    : image_(path, kRouteImage), table_(view_route_image(image_.bytes())) {
  std::memcpy(&header_, image_.bytes().data() + sizeof(ImageHeader), sizeof header_);
  journal_ = LiveJournal(words(0, image_.bytes().size() / sizeof(std::uint32_t)),
                         {at<LiveRecord>(header_.journal_at), header_.journal_count}, live());
  for (const RouteHop& hop : hops()) {
    if (hop.kind != static_cast<std::uint8_t>(RouteHopKind::kGroup)) continue;
    members_used_ = std::max(members_used_, hop.first_member + hop.member_count);
  }
}

std::span<std::uint32_t> LiveRouteImage::ipv6_table24() {
  return words(header_.ipv6_table24_at, has_ipv6() ? kIpv6Table24Entries : 0);
}

std::span<Ipv6Node> LiveRouteImage::ipv6_nodes() {
  return {at<Ipv6Node>(header_.ipv6_nodes_at), has_ipv6() ? header_.ipv6_node_count : 0};
}

std::span<std::uint32_t> LiveRouteImage::ipv6_runs() {
  return words(header_.ipv6_runs_at, header_.ipv6_run_count);
}

bool LiveRouteImage::add_hops(const HopNumbers& numbers) {
  const std::size_t used = this->hops().size();
  const auto hops = numbers.hops();
  const auto members = numbers.members();
  if (hops.size() == used) return true;
  if (hops.size() > header_.hop_count || members.size() > header_.member_count) return false;
  std::copy(members.begin() + members_used_, members.end(),
            at<RouteMember>(header_.members_at) + members_used_);
  members_used_ = static_cast<std::uint32_t>(members.size());
  std::copy(hops.begin() + static_cast<std::ptrdiff_t>(used), hops.end(),
            at<RouteHop>(header_.hops_at) + used);
  store_live(live().hops_used, static_cast<std::uint32_t>(hops.size()));
  return true;
}

}  // namespace millrace
