// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "io-worker/ports/capture_record.hpp"
#include "io-worker/ports/file_window.hpp"

/// pcapng files (draft-ietf-opsawg-pcapng), read only: blocks of type, total length, body, total
/// length. Packets come in Enhanced, Simple and (obsolete) Packet Blocks, each from an interface
/// that an Interface Description Block before it describes; a Section Header Block starts anew,
/// perhaps in the other byte order. All other blocks are stepped over, and so are packets of
/// interfaces that are not Ethernet, which are counted.

namespace millrace {

inline constexpr std::uint32_t kPcapngSectionHeader = 0x0a0d0d0a;  ///< the same in both orders
inline constexpr std::uint32_t kPcapngBlockBytesMax = 16u << 20;   ///< of any block, as libpcap
inline constexpr std::uint32_t kPcapngInterfaceCountMax = 65536;   ///< more are unknown to us

class PcapngReader {
 public:
  PcapngReader() { interfaces_.reserve(kPcapngInterfaceCountMax); }

  /// Reads on to the first packet, so that the interfaces before it are known. kRecord: there is an
  /// interface, perhaps without a packet; else why there is none (kEnd: the file describes none).
  CaptureStatus open(FileWindow& window) noexcept;
  /// An interface of the present section is Ethernet.
  bool has_ethernet() const noexcept;
  /// The next packet of an Ethernet interface. A packet of an interface that is not described is
  /// corrupt.
  CaptureStatus next(FileWindow& window, CaptureRecord& record) noexcept;
  /// Packets of other link types that next() has stepped over.
  std::uint64_t skipped() const noexcept { return skipped_; }
  /// The link type of the first of those packets; of the first interface while there is none.
  std::uint32_t other_link_type() const noexcept {
    return skipped_ != 0 || interfaces_.empty() ? skipped_link_type_ : interfaces_[0].link_type;
  }

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
  CaptureStatus begin_section(FileWindow& window) noexcept;
  bool add_interface(const Block& block) noexcept;
  void read_interface_options(const Block& block, Interface& interface) const noexcept;
  const Interface* interface_of(const Block& block) const noexcept;
  CaptureStatus packet(const Block& block, const Interface& from,
                       CaptureRecord& record) const noexcept;
  CaptureStatus simple_packet(const Block& block, const Interface& from,
                              CaptureRecord& record) const noexcept;

  bool swapped_ = false;
  std::vector<Interface> interfaces_;  ///< of the present section
  std::uint64_t skipped_ = 0;
  std::uint32_t skipped_link_type_ = 0;
};

}  // namespace millrace
