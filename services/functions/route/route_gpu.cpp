// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/route_gpu.hpp"

#include "services/functions/image_file.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {
namespace {

/// Ethernet and an IPv6 header, or an IPv4 header without options: one line of memory. Options are
/// read in place.
constexpr std::uint32_t kFrameBytes = 64;

}  // namespace

DeviceTable upload_route(const PlanFunction& function, DeviceMemory& memory) {
  const MappedImage image(function.image, kRouteImage);
  const RouteTable here = view_route_image(image.bytes());
  const auto* words = reinterpret_cast<const std::byte*>(here.table24);
  const std::span<const std::byte> tables(words, image.bytes().data() + image.bytes().size());
  const std::byte* there = memory.copy(tables);
  const auto moved = [&]<typename T>(const T* at) {
    return at == nullptr ? at
                         : reinterpret_cast<const T*>(
                               there + (reinterpret_cast<const std::byte*>(at) - words));
  };
  const RouteTable table{.table24 = moved(here.table24),
                         .blocks = moved(here.blocks),
                         .own_filter = here.own_filter,
                         .own = {memory.copy_of(here.own), here.own.size()},
                         .hops = {},
                         .members = {},
                         .ports = {},
                         .ipv6 = {.table24 = moved(here.ipv6.table24),
                                  .nodes = moved(here.ipv6.nodes),
                                  .runs = moved(here.ipv6.runs),
                                  .own = moved(here.ipv6.own),
                                  .own_count = here.ipv6.own_count,
                                  .own_filter = here.ipv6.own_filter}};
  return device_table(DeviceKind::kRoute, kFrameBytes, table);
}

}  // namespace millrace
