// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/frame_reader.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstring>
#include <span>

#include "io-worker/ports/checksum.hpp"
#include "io-worker/ports/received.hpp"
#include "shared/base/packet_walk.hpp"

namespace millrace {
namespace {

using packet_walk::kMacsBytes, packet_walk::kVlanTagBytes;

const std::byte* bytes_of(const tpacket2_hdr& frame) noexcept {
  return reinterpret_cast<const std::byte*>(&frame) + frame.tp_mac;
}

Offload offload_of(const tpacket2_hdr& frame) noexcept {
  Offload offload;
  std::memcpy(&offload, bytes_of(frame) - sizeof offload, sizeof offload);
  return offload;
}

bool is_tagged(const tpacket2_hdr& frame) noexcept {
  return (frame.tp_status & TP_STATUS_VLAN_VALID) != 0 && frame.tp_snaplen >= kMacsBytes;
}

std::array<std::byte, kVlanTagBytes> tag_of(const tpacket2_hdr& frame) noexcept {
  const bool typed = (frame.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
  const std::uint16_t words[2] = {htons(typed ? frame.tp_vlan_tpid : std::uint16_t{0x8100}),
                                  htons(frame.tp_vlan_tci)};
  std::array<std::byte, kVlanTagBytes> tag;
  std::memcpy(tag.data(), words, sizeof words);
  return tag;
}

}  // namespace

void FrameReader::begin(const tpacket2_hdr& frame, std::uint32_t room) noexcept {
  frame_ = &frame;
  room_ = room;
  left_ = 1;
  cut_ = false;
  is_ = SuperFrameIs::kGood;
  if (frame.tp_snaplen < frame.tp_len) return;  // longer than the ring's: oversize, whatever it is
  const Offload offload = offload_of(frame);
  if (offload.segment_type == 0) [[likely]]
    return;
  const bool tagged = is_tagged(frame);
  const auto tag = tagged ? tag_of(frame) : std::array<std::byte, kVlanTagBytes>{};
  is_ = super_.begin({bytes_of(frame), frame.tp_snaplen},
                     std::span(tag).first(tagged ? tag.size() : 0), offload, room);
  cut_ = is_ == SuperFrameIs::kGood;
  if (cut_) left_ = super_.left();
}

void FrameReader::next(BufferArea area, std::uint32_t buffer, RxPacket& out) noexcept {
  --left_;
  out.time_tsc = 0;
  out.malformed = is_ == SuperFrameIs::kMalformed;
  if (!cut_) {
    copy_whole(area, buffer, out);
    return;
  }
  const std::uint32_t bytes = super_.write_next(area.at(buffer) + kBufferHeadroom);
  describe_received(out, buffer, bytes, bytes, room_);
}

void FrameReader::copy_whole(BufferArea area, std::uint32_t buffer, RxPacket& out) const noexcept {
  const std::byte* const from = bytes_of(*frame_);
  const bool tagged = is_tagged(*frame_);
  const std::uint32_t tag_bytes = tagged ? kVlanTagBytes : 0;
  const std::uint32_t wire = frame_->tp_len + tag_bytes;
  describe_received(out, buffer, frame_->tp_snaplen + tag_bytes, wire, room_);
  out.oversize = wire > room_ || is_ != SuperFrameIs::kGood;
  std::byte* const to = area.at(buffer) + out.offset;
  if (!tagged) {
    std::memcpy(to, from, out.length);
  } else {
    const auto tag = tag_of(*frame_);
    std::memcpy(to, from, kMacsBytes);
    std::memcpy(to + kMacsBytes, tag.data(), tag.size());
    std::memcpy(to + kMacsBytes + tag.size(), from + kMacsBytes,
                out.length - kMacsBytes - tag.size());
  }
  if ((frame_->tp_status & TP_STATUS_CSUMNOTREADY) == 0 || out.oversize) return;
  const Offload offload = offload_of(*frame_);
  if ((offload.flags & Offload::kFillChecksum) == 0) return;
  complete_checksum({to, out.length}, offload.checksum_start + tag_bytes, offload.checksum_offset);
}

}  // namespace millrace
