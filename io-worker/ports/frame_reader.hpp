// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/if_packet.h>

#include <cstdint>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/super_frame.hpp"

namespace millrace {

/// Packets of a frame in the ring of a packet socket (PACKET_VNET_HDR): one, or those that a super-
/// frame stands for. The VLAN tag that lies beside it is put back, and a checksum filled in that
/// the kernel left to hardware.
class FrameReader {
 public:
  /// `frame`: filled by the kernel, and not given back to it until the last packet was read.
  /// `room`: bytes of the longest packet that is not oversize. The same frame gives the same
  /// packets.
  void begin(const tpacket2_hdr& frame, std::uint32_t room) noexcept;
  /// Packets that are not read yet.
  std::uint32_t left() const noexcept { return left_; }
  /// Copies the next packet into the buffer; the caller sets the ordinal. Only while one is left.
  void next(BufferArea area, std::uint32_t buffer, RxPacket& out) noexcept;

 private:
  void copy_whole(BufferArea area, std::uint32_t buffer, RxPacket& out) const noexcept;

  const tpacket2_hdr* frame_ = nullptr;
  std::uint32_t room_ = 0;
  std::uint32_t left_ = 0;
  SuperFrameIs is_ = SuperFrameIs::kGood;
  bool cut_ = false;  ///< packets are the super-frame's
  SuperFrame super_;
};

}  // namespace millrace
