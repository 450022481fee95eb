// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace {

/// virtio_net_hdr (its header file is no C++): what the kernel says of a frame, in front of it.
struct Offload {
  static constexpr std::uint8_t kFillChecksum = 1;
  static constexpr std::uint8_t kTcp4 = 1, kTcp6 = 4, kUdp = 5, kEcn = 0x80;

  std::uint8_t flags = 0;         ///< kFillChecksum: the checksum is to be filled in
  std::uint8_t segment_type = 0;  ///< 0: one packet
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;  ///< of payload, in each packet but the last
  std::uint16_t checksum_start = 0, checksum_offset = 0;
};
static_assert(sizeof(Offload) == 10);

enum class SuperFrameIs : std::uint8_t {
  kGood,
  kUnknown,    ///< cannot be cut: a tunnel's, IPv6 with extension headers, of another protocol; or
               ///< its packets would be longer than the port allows
  kMalformed,  ///< what it says of itself is not true
};

/// A frame of up to 64 KiB that stands for several packets of one TCP or UDP flow, as stacks hand
/// them to each other: one set of headers, and the payload of all. Cut into the packets that it
/// stands for: as the kernel cuts them, with checksums and IP identifications of their own. The
/// same frame gives the same packets each time.
class SuperFrame {
 public:
  /// `frame`: stays until the last packet is written. `tag`: 4 bytes that belong behind its MAC
  /// addresses, or none. `room`: bytes of the longest packet that is allowed.
  SuperFrameIs begin(std::span<const std::byte> frame, std::span<const std::byte> tag,
                     const Offload& offload, std::uint32_t room) noexcept;
  /// Packets that are not written yet.
  std::uint32_t left() const noexcept { return left_; }
  /// Writes the next packet and returns its length, at most `room`. Only while one is left.
  std::uint32_t write_next(std::byte* to) noexcept;

 private:
  static constexpr std::size_t kHeadBytesMax = 160;  // Ethernet, 3 tags, 60 of IP and of TCP each

  SuperFrameIs check(std::span<const std::byte> frame, const Offload& offload) noexcept;
  void finish(std::span<std::byte> packet, std::uint32_t begin, bool last) const noexcept;

  std::array<std::byte, kHeadBytesMax> head_;  ///< of all packets: with the tag
  std::uint32_t network_ = 0, transport_ = 0, head_bytes_ = 0;
  bool ipv6_ = false, tcp_ = false, no_checksum_ = false;
  std::span<const std::byte> payload_;
  std::uint32_t segment_bytes_ = 0;
  std::uint32_t count_ = 0, left_ = 0;
};

}  // namespace millrace
