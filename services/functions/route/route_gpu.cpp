// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/route_gpu.hpp"

#include <memory>
#include <utility>

#include "services/functions/image_file.hpp"
#include "services/functions/route/live/live_copy.hpp"
#include "services/functions/route/route_image.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Ethernet and an IPv6 header, or an IPv4 header without options: one line of memory. Options are
/// read in place.
constexpr std::uint32_t kFrameBytes = 64;

/// `here` with its tables at `there`, as far from table24 as they are here.
RouteTable moved_to(const RouteTable& here, const std::byte* there, DeviceMemory& memory) {
  const auto* words = reinterpret_cast<const std::byte*>(here.table24);
  const auto moved = [&]<typename T>(const T* at) {
    return at == nullptr ? at
                         : reinterpret_cast<const T*>(
                               there + (reinterpret_cast<const std::byte*>(at) - words));
  };
  return {.table24 = moved(here.table24),
          .blocks = moved(here.blocks),
          .own_filter = memory.copy_of(std::span(here.own_filter, 1)),
          .own = {memory.copy_of(here.own), here.own.size()},
          .hops = {},
          .members = {},
          .ports = {},
          .ipv6 = {.table24 = moved(here.ipv6.table24),
                   .nodes = moved(here.ipv6.nodes),
                   .runs = moved(here.ipv6.runs),
                   .own = memory.copy_of(std::span(here.ipv6.own, here.ipv6.own_count)),
                   .own_filter = here.ipv6.present()
                                     ? memory.copy_of(std::span(here.ipv6.own_filter, 1))
                                     : nullptr,
                   .own_count = here.ipv6.own_count},
          .fixed = {},
          .journal = {}};
}

}  // namespace

DeviceTable upload_route(const PlanFunction& function, DeviceMemory& memory) {
  auto image = std::make_unique<MappedImage>(function.image, kRouteImage);
  const RouteTable here = view_route_image(image->bytes());
  if (here.journal.empty()) {
    if (image->header().live != 0) throw Error("a live table that no device can follow");
    const auto* words = reinterpret_cast<const std::byte*>(here.table24);
    const std::byte* const there =
        memory.copy({words, image->bytes().data() + image->bytes().size()});
    return device_table(DeviceKind::kRoute, kFrameBytes,
                        RouteGpuTable{moved_to(here, there, memory)});
  }
  auto copy = std::make_unique<LiveCopy>(std::move(image), memory);
  const RouteGpuTable table{moved_to(copy->table(), copy->first(), memory),
                            reinterpret_cast<const std::byte* const*>(copy->where())};
  memory.keep(std::move(copy));
  return device_table(DeviceKind::kRoute, kFrameBytes, table);
}

}  // namespace millrace
