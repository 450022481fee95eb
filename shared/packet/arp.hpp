// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"

/// ARP of IPv4 over Ethernet (RFC 826, RFC 5227), in untagged frames.

namespace millrace {

inline constexpr std::uint16_t kArpRequest = 1, kArpReply = 2;

/// Ethernet header and ARP packet. What pads a frame to Ethernet's 60 bytes is the caller's.
inline constexpr std::size_t kArpFrameBytes = 42;

/// Addresses of IPv4 in host byte order. A probe has `sender` 0, an announcement `sender` ==
/// `target` (RFC 5227 1.1).
struct ArpPacket {
  std::uint16_t operation;  // kArpRequest or kArpReply
  MacAddress sender_mac;
  std::uint32_t sender;
  MacAddress target_mac;  // all zero where a request does not know it
  std::uint32_t target;

  friend bool operator==(const ArpPacket&, const ArpPacket&) = default;
};

/// True: `frame` holds an ARP request or reply for IPv4 over Ethernet. Bytes behind kArpFrameBytes
/// are padding. Nothing is said about the addresses: that the sender's differs from the frame's
/// source, is a group address or is ours is the caller's to judge. False: `packet` is as before.
bool parse_arp(std::span<const std::byte> frame, ArpPacket& packet) noexcept;

/// Writes the first kArpFrameBytes of `frame`, which has at least as many. `from` and `to`: of the
/// Ethernet header.
void write_arp(std::span<std::byte> frame, MacAddress from, MacAddress to,
               const ArpPacket& packet) noexcept;

}  // namespace millrace
