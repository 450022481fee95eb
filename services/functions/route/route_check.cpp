// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_check.hpp"

#include "shared/base/packet_walk.hpp"

namespace millrace {

std::uint32_t route_check(std::span<const std::byte> frame, std::uint32_t wire_length,
                          const RouteTable& table) noexcept {
  return route::check(FrameBytes{frame.data(), frame.size()}, wire_length, table);
}

}  // namespace millrace
