// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "io-worker/ports/capture_record.hpp"
#include "io-worker/ports/file_window.hpp"

/// pcapng files (draft-ietf-opsawg-pcapng), read only: blocks of type, total length, body, total
/// length. Packets come in Enhanced, Simple and (obsolete) Packet Blocks, each from an interface
/// that an Interface Description Block before it describes; a Section Header Block starts anew,
/// perhaps in the other byte order. All other blocks are stepped over.

namespace millrace {

inline constexpr std::uint32_t kPcapngSectionHeader = 0x0a0d0d0a;  ///< the same in both orders
inline constexpr std::uint32_t kPcapngBlockBytesMax = 16u << 20;   ///< of any block, as libpcap
inline constexpr std::uint32_t kPcapngInterfaceCountMax = 64;      ///< more are unknown to us

class PcapngReader {
 public:
  /// Reads on to the first interface, so that its link type is known. False when the file has none
  /// or is not pcapng.
  bool open(FileWindow& window) noexcept;
  /// Link type of the first interface.
  std::uint32_t link_type() const { return interfaces_[0].link_type; }
  /// The next packet. One from an interface of another link type than Ethernet, or from none, is
  /// corrupt.
  CaptureStatus next(FileWindow& window, CaptureRecord& record) noexcept;

 private:
  struct Interface {
    std::uint32_t link_type = 0;
    std::uint32_t snap_length = kCaptureLengthMax;
    std::uint64_t ticks_per_second = 1'000'000;
    std::int64_t offset_seconds = 0;
  };
  /// A block whose head is known. `body` is null when it is too long to be looked at.
  struct Block {
    std::uint32_t type = 0;
    std::uint32_t bytes = 0;  ///< all of it
    const std::byte* body = nullptr;
    std::uint32_t body_bytes = 0;
  };

  CaptureStatus next_block(FileWindow& window, Block& block) noexcept;
  CaptureStatus skip_block(FileWindow& window, Block& block) noexcept;
  bool begin_section(FileWindow& window) noexcept;
  bool add_interface(const Block& block) noexcept;
  void read_interface_options(const Block& block, Interface& interface) const noexcept;
  CaptureStatus packet(const Block& block, CaptureRecord& record) const noexcept;
  CaptureStatus simple_packet(const Block& block, CaptureRecord& record) const noexcept;

  bool swapped_ = false;
  std::uint32_t interface_count_ = 0;
  std::array<Interface, kPcapngInterfaceCountMax> interfaces_{};
};

}  // namespace millrace
