// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "services/functions/acl/acl_key.hpp"
#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/flow/flow_usual.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {

/// What acl_key_of() says of a usual packet (flow_usual.hpp).
inline void set_usual_key(const std::byte* frame, AclKey& key) noexcept {
  constexpr std::size_t kNetworkAt = usual_packet::kNetworkAt,
                        kTransportAt = usual_packet::kTransportAt;
  key = {.protocol = std::to_integer<std::uint8_t>(frame[kNetworkAt + 9]),
         .version = 4,
         .has_ports = 1};
  if (key.protocol == ip_protocol::kTcp) {
    key.flags = std::to_integer<std::uint8_t>(frame[kTransportAt + kTcpFlagsAt]);
  }
  std::memcpy(&key.source[0], frame + kNetworkAt + 12, sizeof key.source[0]);
  std::memcpy(&key.destination[0], frame + kNetworkAt + 16, sizeof key.destination[0]);
  std::memcpy(&key.source_port, frame + kTransportAt, sizeof key.source_port);
  std::memcpy(&key.destination_port, frame + kTransportAt + 2, sizeof key.destination_port);
  key.vlan = kAclNoTag;
  const std::uint32_t dscp = std::to_integer<std::uint32_t>(frame[kNetworkAt + 1]) >> 2;
  key.marks = acl_swap(dscp | kAclWhole | kAclNoIcmp);
}

}  // namespace millrace
