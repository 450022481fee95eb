// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What `acl` compares: a rule, and what a packet is compared by. Plain data, the same for CPU and
/// GPU. README.md in this folder says what a rule means.

namespace millrace {

inline constexpr std::uint32_t kAclRuleCountMax = 65'536;  ///< of all files of a function

/// What becomes of a packet of which the rule is the first that matches.
enum class AclAction : std::uint8_t {
  kDrop = 0,
  kPass = 1,
  kAlert = 2,   ///< counted; its end is the default's
  kClass = 3,   ///< passes, and has the class
  kReject = 4,  ///< dropped, and its sender is told
};

inline constexpr std::uint8_t kAclIpv4 = 1, kAclIpv6 = 2;  ///< bits of AclRule::families

/// A rule. Its number is its place: 0 is the first.
struct AclRule {
  std::uint8_t source[16];  ///< as on the wire, IPv4 in the first four bytes; host bits are 0
  std::uint8_t destination[16];
  std::uint16_t source_port_low, source_port_high;  ///< 0 and 65535: any, or none
  std::uint16_t destination_port_low, destination_port_high;
  std::uint8_t source_length, destination_length;  ///< bits of the prefixes
  std::uint8_t protocol, protocol_mask;            ///< 0 in the mask: any
  std::uint8_t flags, flags_mask;                  ///< of TCP; 0 in the mask: any
  std::uint8_t families;
  std::uint8_t action;  ///< AclAction
  std::uint32_t class_mask;
  std::uint32_t name_offset;  ///< in the image's names
  std::uint16_t name_bytes;
  std::uint8_t log;  ///< 1: packets of which it is the first are told of
  std::uint8_t padding[5];
};
static_assert(sizeof(AclRule) == 64 && alignof(AclRule) == 4);
static_assert(offsetof(AclRule, destination) == 16 && offsetof(AclRule, source_port_low) == 32 &&
              offsetof(AclRule, destination_port_low) == 36 &&
              offsetof(AclRule, source_length) == 40 && offsetof(AclRule, protocol) == 42 &&
              offsetof(AclRule, flags) == 44 && offsetof(AclRule, families) == 46 &&
              offsetof(AclRule, action) == 47 && offsetof(AclRule, class_mask) == 48 &&
              offsetof(AclRule, name_offset) == 52 && offsetof(AclRule, name_bytes) == 56 &&
              offsetof(AclRule, log) == 58);

/// What a packet is compared by. Addresses and ports as on the wire; what it does not have is 0.
struct AclKey {
  std::uint8_t protocol;   ///< of the transport
  std::uint8_t version;    ///< 4 or 6; 0: nothing here is compared
  std::uint8_t has_ports;  ///< 1: the ports are known
  std::uint8_t flags;      ///< of TCP
  std::uint32_t source[4];
  std::uint32_t destination[4];
  std::uint16_t source_port, destination_port;
};
static_assert(sizeof(AclKey) == 40 && alignof(AclKey) == 4);
static_assert(offsetof(AclKey, flags) == 3 && offsetof(AclKey, source) == 4 &&
              offsetof(AclKey, destination) == 20 && offsetof(AclKey, source_port) == 36 &&
              offsetof(AclKey, destination_port) == 38);

/// Result words: number of the first rule that matches, plus 1, or one of these.
inline constexpr std::uint32_t kAclNoRule = 0;
inline constexpr std::uint32_t kAclNotIp = UINT32_MAX;       ///< another EtherType
inline constexpr std::uint32_t kAclHidden = UINT32_MAX - 2;  ///< its transport is hidden: dropped

/// TCP, DCCP, UDP, SCTP, UDP-Lite: their header begins with two ports.
constexpr bool acl_protocol_has_ports(std::uint8_t protocol) {
  return protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132 || protocol == 136;
}

/// The rule asks for ports or TCP flags, so a packet without known ones does not match.
constexpr bool acl_asks_for_ports(const AclRule& rule) {
  return rule.source_port_low != 0 || rule.source_port_high != UINT16_MAX ||
         rule.destination_port_low != 0 || rule.destination_port_high != UINT16_MAX ||
         rule.flags_mask != 0;
}

}  // namespace millrace
