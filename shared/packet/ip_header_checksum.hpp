// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "shared/base/packet.hpp"
#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/ipv4_wire.hpp"

namespace millrace {

/// A frame with its parsed headers: the header of IPv4 is whole and has a right checksum. True for
/// other packets: IPv6 has no checksum of the header.
inline bool has_good_ip_checksum(std::span<const std::byte> frame,
                                 const PacketHeaders& headers) noexcept {
  if (headers.ip_version != 4) return true;
  const std::span<const std::byte> packet = frame.subspan(headers.network_offset);
  const std::size_t bytes = ipv4_wire::header_bytes(packet);
  return bytes != 0 && internet_checksum(packet.first(bytes)) == 0;
}

}  // namespace millrace
