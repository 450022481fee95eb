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
  /// Of `firewall` alone: passes, where the sender has shown that it gets what is sent to it.
  kSynproxy = 5,
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
  std::uint8_t log;         ///< 1: packets of which it is the first are told of
  std::uint8_t reject = 0;  ///< of kReject: what the sender is told, kAclRejectReset, ...
  /// 0 and 65535: any, or no tag; kAclNoTag in both: no tag.
  std::uint16_t vlan_low = 0, vlan_high = UINT16_MAX;
  std::uint16_t icmp_low = 0, icmp_high = UINT16_MAX;  ///< type, code; likewise any, or no ICMP
  std::uint32_t marks, marks_mask;                     ///< of AclKey::marks; 0 in the mask: any
  // Of `firewall` alone.
  /// 0: no limit; else it matches once in so many microseconds, with kRuleNanoseconds nanoseconds,
  std::uint32_t limit_interval;
  std::uint32_t limit_burst;       ///< and so often at once after a pause; 1 or more
  std::uint32_t limit_group;       ///< rules of one group take from one limit; 0: it has its own
  std::uint32_t connections;       ///< with kRuleConnections: it matches up to so many at a time
  std::uint32_t connection_group;  ///< rules of one group count together, also after a reload
  std::uint8_t limits;             ///< kRuleRateOver, ...
  std::uint8_t proxy;              ///< of kSynproxy: kRuleProxySack, ...
  std::uint16_t proxy_mss;         ///< likewise: what the sender is told
  /// With kRuleRatePerSource, kRuleConnectionsPerSource: addresses with the same first bits are one
  /// source; so many bits of IPv4, of IPv6; 0: all.
  std::uint8_t rate_bits[2], connection_bits[2];
};
/// Values of AclRule::reject. 0: a RST for TCP, ICMP "port unreachable" for others.
inline constexpr std::uint8_t kAclRejectReset = 1;  ///< a RST for TCP, nothing for others
inline constexpr std::uint8_t kAclRejectIcmp = 0x80;
/// ICMP "destination unreachable" for TCP too: `code` of IPv4 (0 to 15), `code6` of IPv6 (0 to 7).
constexpr std::uint8_t acl_reject_icmp(unsigned code, unsigned code6) {
  return static_cast<std::uint8_t>(kAclRejectIcmp | code << 3 | code6);
}

/// Bits of AclRule::proxy; below them the shift of the window.
inline constexpr std::uint8_t kRuleProxyShiftBits = 15, kRuleProxyScale = 16, kRuleProxySack = 32,
                              kRuleProxyTimestamp = 64;
/// Bits of AclRule::limits. Over: the rule matches what is above the limit instead of below it.
inline constexpr std::uint8_t kRuleRateOver = 1, kRuleRatePerSource = 2, kRuleConnections = 4,
                              kRuleConnectionsOver = 8, kRuleConnectionsPerSource = 16,
                              kRuleNanoseconds = 32;
static_assert(sizeof(AclRule) == 104 && alignof(AclRule) == 4);
static_assert(offsetof(AclRule, destination) == 16 && offsetof(AclRule, source_port_low) == 32 &&
              offsetof(AclRule, destination_port_low) == 36 &&
              offsetof(AclRule, source_length) == 40 && offsetof(AclRule, protocol) == 42 &&
              offsetof(AclRule, flags) == 44 && offsetof(AclRule, families) == 46 &&
              offsetof(AclRule, action) == 47 && offsetof(AclRule, class_mask) == 48 &&
              offsetof(AclRule, name_offset) == 52 && offsetof(AclRule, name_bytes) == 56 &&
              offsetof(AclRule, log) == 58 && offsetof(AclRule, vlan_low) == 60 &&
              offsetof(AclRule, icmp_low) == 64 && offsetof(AclRule, marks) == 68 &&
              offsetof(AclRule, limit_interval) == 76 && offsetof(AclRule, connections) == 88 &&
              offsetof(AclRule, limits) == 96 && offsetof(AclRule, proxy_mss) == 98 &&
              offsetof(AclRule, rate_bits) == 100);

inline constexpr std::uint16_t kAclNoTag = UINT16_MAX;  ///< instead of the number of a VLAN

/// Bits of AclRule::marks and AclKey::marks. A group with one bit a value has that of the packet
/// set; a rule that allows some of the values asks the bits of all others to be 0.
inline constexpr std::uint32_t kAclDscpBits = 0x3f;
inline constexpr std::uint32_t kAclNoIcmp = 1u << 6;  ///< no ICMP, or its type is not known
inline constexpr std::uint32_t kAclWhole = 1u << 8, kAclFirstFragment = 1u << 9,
                               kAclLaterFragment = 1u << 10;
inline constexpr std::uint32_t kAclFragmentBits = kAclWhole | kAclFirstFragment | kAclLaterFragment;
inline constexpr std::uint32_t kAclStateShift = 11;  ///< state of the connection, one bit each
inline constexpr std::uint32_t kAclStateBits = 0x1fu << kAclStateShift;
inline constexpr std::uint32_t kAclInputShift = 16;  ///< port that it came in by; all: not known
inline constexpr std::uint32_t kAclInputBits = 0xffffu << kAclInputShift;

/// What a packet is compared by. Addresses and ports as on the wire; what it does not have is 0.
struct AclKey {
  std::uint8_t protocol;   ///< of the transport
  std::uint8_t version;    ///< 4 or 6; 0: nothing here is compared
  std::uint8_t has_ports;  ///< 1: the ports are known
  std::uint8_t flags;      ///< of TCP
  std::uint32_t source[4];
  std::uint32_t destination[4];
  std::uint16_t source_port, destination_port;
  // Only set for rules with conditions, in network byte order too.
  std::uint16_t vlan;  ///< of the outer tag, or kAclNoTag
  std::uint16_t icmp;  ///< type, code
  std::uint32_t marks;
};
static_assert(sizeof(AclKey) == 48 && alignof(AclKey) == 4);
static_assert(offsetof(AclKey, flags) == 3 && offsetof(AclKey, source) == 4 &&
              offsetof(AclKey, destination) == 20 && offsetof(AclKey, source_port) == 36 &&
              offsetof(AclKey, destination_port) == 38 && offsetof(AclKey, vlan) == 40 &&
              offsetof(AclKey, icmp) == 42 && offsetof(AclKey, marks) == 44);

/// To or from network byte order.
constexpr std::uint32_t acl_swap(std::uint32_t word) {
  return word << 24 | (word & 0xff00) << 8 | (word >> 8 & 0xff00) | word >> 24;
}
constexpr std::uint32_t acl_swap(std::uint16_t word) {
  return static_cast<std::uint32_t>((word & 0xff) << 8 | word >> 8);
}

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

/// The rule asks for what AclKey::vlan, icmp or marks say.
constexpr bool acl_has_conditions(const AclRule& rule) {
  return rule.vlan_low != 0 || rule.vlan_high != UINT16_MAX || rule.icmp_low != 0 ||
         rule.icmp_high != UINT16_MAX || rule.marks_mask != 0;
}

}  // namespace millrace
