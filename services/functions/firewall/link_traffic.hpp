// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/packet.hpp"

namespace millrace {

/// The packet is for machines of its own link and no router forwards it, so rules about what is
/// forwarded say nothing of it: to 255.255.255.255 or 224.0.0.0/24 (RFC 919, RFC 5771 4), to
/// fe80::/10 or ff02::/16 (RFC 4291 2.5.6, 2.7), or neighbour discovery with a hop limit of 255,
/// which has passed no router (RFC 4861 3.1). `headers`: of the same frame.
bool is_of_the_link(std::span<const std::byte> frame, const PacketHeaders& headers) noexcept;

/// The same of an address of IPv4 that a packet goes to.
constexpr bool ipv4_is_of_the_link(std::uint32_t to) noexcept {
  return to == UINT32_MAX || to >> 8 == 0xe00000;
}

}  // namespace millrace
