// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// The fragments in which its sender sends an IPv6 packet that is longer than the link's MTU (RFC
/// 8200 4.5), each a whole packet of at most `mtu` bytes: the header, a fragment header, and a part
/// of the payload. Parts follow each other in order and without overlap; all but the last hold a
/// multiple of 8 bytes. Routers cut nothing, so this is for packets of our own, and for those that
/// were IPv4 packets which routers may cut (RFC 7915 4). Other extension headers are payload.
///
/// A packet that begins with a fragment header, an atomic fragment too, is cut anew: parts have its
/// identification, its offset is added, and its last part says of further ones what it says.
class Ipv6Fragments {
 public:
  /// Borrows `packet`, from the IPv6 header on; bytes behind its payload length are padding. `mtu`:
  /// of the link that it leaves by, in bytes. `identification`: no other packet in fragments from
  /// the same source to the same destination has had it lately; unused where the packet has one.
  Ipv6Fragments(std::span<const std::byte> packet, std::size_t mtu,
                std::uint32_t identification) noexcept;

  /// 1: the packet fits, and is what write() writes, unchanged. 0: it cannot be sent: it is no IPv6
  /// packet, or cut, or ends beyond offset 65,535, or `mtu` has no room for the headers and 8
  /// bytes.
  std::uint32_t count() const noexcept { return count_; }

  /// As Ipv4Fragments::write().
  std::size_t write(std::uint32_t number, std::span<std::byte> out) const noexcept;

 private:
  void take_fragment_header() noexcept;

  std::span<const std::byte> packet_;  // header and payload, without padding
  std::size_t data_at_ = 0;            // in the packet: what is cut
  std::uint8_t next_header_ = 0;       // of the data
  bool more_ = false;                  // behind the last part
  std::size_t offset_ = 0;             // of the first part, in bytes
  std::uint32_t identification_;
  std::size_t part_bytes_ = 0;  // in all fragments but the last
  std::uint32_t count_ = 0;
};

}  // namespace millrace
