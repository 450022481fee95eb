// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>

#include <cstdint>
#include <string>
#include <vector>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/firewall/firewall_rules.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "tests/unit/services/functions/acl/acl_oracle.hpp"

/// What rules say of packets, by trying every rule in turn.

namespace millrace {

struct FirewallPacket {
  std::string source = "10.0.0.1", destination = "192.0.2.1";
  unsigned protocol = 6, source_port = 40000, destination_port = 80, flags = 0x02;
  int icmp_type = -1;
  FlowState state = FlowState::kNew;
  unsigned port_in = 0;
  bool later_fragment = false;

  AclKey key() const {
    const bool ipv6 = source.find(':') != std::string::npos;
    AclKey key{};
    key.version = ipv6 ? 6 : 4;
    key.protocol = static_cast<std::uint8_t>(protocol);
    inet_pton(ipv6 ? AF_INET6 : AF_INET, source.c_str(), key.source);
    inet_pton(ipv6 ? AF_INET6 : AF_INET, destination.c_str(), key.destination);
    if (acl_protocol_has_ports(key.protocol) && !later_fragment) {
      key.has_ports = 1;
      key.source_port = __builtin_bswap16(static_cast<std::uint16_t>(source_port));
      key.destination_port = __builtin_bswap16(static_cast<std::uint16_t>(destination_port));
      key.flags = protocol == 6 ? static_cast<std::uint8_t>(flags) : std::uint8_t{0};
    }
    key.vlan = 0xffff;
    std::uint32_t marks = later_fragment ? kAclLaterFragment : kAclWhole;
    if (icmp_type < 0) marks |= kAclNoIcmp;
    if (icmp_type >= 0) {
      key.icmp = __builtin_bswap16(static_cast<std::uint16_t>(icmp_type << 8));
    }
    marks |= 1u << (kAclStateShift + static_cast<unsigned>(state));
    marks |= 1u << (kAclInputShift + port_in);
    key.marks = __builtin_bswap32(marks);
    return key;
  }
};

/// The name of the first rule that decides, behind those that go on; "none".
inline std::string name_of_first(const FirewallRules& rules, const FirewallPacket& packet) {
  const oracle::AclPacket asked = oracle::acl_packet(packet.key());
  for (const AclNamedRule& one : rules.rules) {
    if (one.rule.action == static_cast<std::uint8_t>(AclAction::kAlert)) continue;
    if (oracle::matches(one.rule, asked)) return one.name;
  }
  return "none";
}

inline const std::vector<FirewallPort> kTwoPorts = {{"lan", "eth1"}, {"wan", "eth2"}};

}  // namespace millrace
