// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcapng_format.hpp"

#include <algorithm>

namespace millrace {
namespace {

constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kPacketBlock = 2;
constexpr std::uint32_t kSimplePacket = 3;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kHeadBytes = 8;         // type and length
constexpr std::uint32_t kFrameBytes = 12;       // and the length at the end
constexpr std::uint32_t kPacketHeadBytes = 20;  // of an enhanced packet, before the bytes
constexpr std::uint16_t kOptionEnd = 0;
constexpr std::uint16_t kOptionResolution = 9;
constexpr std::uint16_t kOptionOffset = 14;

// The largest block that is looked at: a packet and room for its options.
constexpr std::uint32_t kBlockReadMax = kCaptureLengthMax + 65536;

bool is_packet(std::uint32_t type) {
  return type == kEnhancedPacket || type == kSimplePacket || type == kPacketBlock;
}

// Ticks a second of an if_tsresol byte; 0 when it does not fit (the time is then left out).
std::uint64_t ticks_of_resolution(std::uint8_t resolution) {
  const std::uint32_t exponent = resolution & 0x7f;
  if (resolution & 0x80) return exponent < 64 ? std::uint64_t{1} << exponent : 0;
  std::uint64_t ticks = 1;
  for (std::uint32_t i = 0; i < exponent; ++i) {
    if (ticks > UINT64_MAX / 10) return 0;
    ticks *= 10;
  }
  return ticks;
}

std::uint64_t nanoseconds(std::uint64_t ticks, std::uint64_t per_second, std::int64_t offset) {
  if (per_second == 0) return 0;
  const auto scaled = static_cast<unsigned __int128>(ticks) * 1'000'000'000 / per_second;
  return static_cast<std::uint64_t>(scaled) + static_cast<std::uint64_t>(offset) * 1'000'000'000;
}

}  // namespace

CaptureStatus PcapngReader::open(FileWindow& window) noexcept {
  Block block;
  for (;;) {
    const std::byte* head = window.need(kHeadBytes);
    if (head != nullptr && is_packet(load_number<std::uint32_t>(head, swapped_))) {
      return interfaces_.empty() ? CaptureStatus::kEnd : CaptureStatus::kRecord;
    }
    const CaptureStatus status = next_block(window, block);
    if (status == CaptureStatus::kRecord) continue;
    return interfaces_.empty() ? status : CaptureStatus::kRecord;
  }
}

bool PcapngReader::has_ethernet() const noexcept {
  return std::ranges::find(interfaces_, kLinkTypeEthernet, &Interface::link_type) !=
         interfaces_.end();
}

CaptureStatus PcapngReader::next(FileWindow& window, CaptureRecord& record) noexcept {
  Block block;
  for (;;) {
    const CaptureStatus status = next_block(window, block);
    if (status != CaptureStatus::kRecord) return status;
    if (!is_packet(block.type)) continue;
    const Interface* const from = interface_of(block);
    if (from == nullptr) return CaptureStatus::kCorrupt;
    if (from->link_type == kLinkTypeEthernet) {
      return block.type == kSimplePacket ? simple_packet(block, *from, record)
                                         : packet(block, *from, record);
    }
    if (skipped_++ == 0) skipped_link_type_ = from->link_type;
  }
}

CaptureStatus PcapngReader::next_block(FileWindow& window, Block& block) noexcept {
  const std::byte* head = window.need(kHeadBytes);
  if (head == nullptr) return window.why_ended(false);
  block.type = load_number<std::uint32_t>(head, swapped_);
  if (block.type == kPcapngSectionHeader) {
    const CaptureStatus status = begin_section(window);
    if (status != CaptureStatus::kRecord) return status;
    head = window.need(kHeadBytes);
  }
  block.bytes = load_number<std::uint32_t>(head + 4, swapped_);
  if (block.bytes < kFrameBytes || block.bytes % 4 != 0 || block.bytes > kPcapngBlockBytesMax) {
    return CaptureStatus::kCorrupt;
  }
  if (block.bytes > kBlockReadMax) return skip_block(window, block);

  const std::byte* all = window.need(block.bytes);
  if (all == nullptr) return window.why_ended(true);
  if (load_number<std::uint32_t>(all + block.bytes - 4, swapped_) != block.bytes) {
    return CaptureStatus::kCorrupt;
  }
  block.body = all + kHeadBytes;
  block.body_bytes = block.bytes - kFrameBytes;
  if (block.type == kInterfaceDescription && !add_interface(block)) return CaptureStatus::kCorrupt;
  window.consume(block.bytes);
  return CaptureStatus::kRecord;
}

// For a block longer than any packet: it is of a kind that is not read here.
CaptureStatus PcapngReader::skip_block(FileWindow& window, Block& block) noexcept {
  if (!window.skip(block.bytes - 4)) return window.why_ended(true);
  const std::byte* end = window.need(4);
  if (end == nullptr) return window.why_ended(true);
  if (load_number<std::uint32_t>(end, swapped_) != block.bytes) return CaptureStatus::kCorrupt;
  window.consume(4);
  block.body = nullptr;
  block.body_bytes = 0;
  return CaptureStatus::kRecord;
}

CaptureStatus PcapngReader::begin_section(FileWindow& window) noexcept {
  const std::byte* head = window.need(kHeadBytes + 4);
  if (head == nullptr) return window.why_ended(true);
  const auto magic = load_number<std::uint32_t>(head + kHeadBytes, false);
  if (magic != kByteOrderMagic && magic != __builtin_bswap32(kByteOrderMagic)) {
    return CaptureStatus::kCorrupt;
  }
  swapped_ = magic != kByteOrderMagic;
  interfaces_.clear();
  return CaptureStatus::kRecord;
}

bool PcapngReader::add_interface(const Block& block) noexcept {
  if (block.body_bytes < 8) return false;
  // Room is reserved for so many: nothing is allocated here.
  if (interfaces_.size() == kPcapngInterfaceCountMax) return true;
  Interface interface;
  interface.link_type = load_number<std::uint16_t>(block.body, swapped_);
  const auto snap_length = load_number<std::uint32_t>(block.body + 4, swapped_);
  if (snap_length != 0) interface.snap_length = std::min(snap_length, kCaptureLengthMax);
  read_interface_options(block, interface);
  interfaces_.push_back(interface);
  return true;
}

void PcapngReader::read_interface_options(const Block& block, Interface& interface) const noexcept {
  std::uint32_t at = 8;
  while (at + 4 <= block.body_bytes) {
    const auto code = load_number<std::uint16_t>(block.body + at, swapped_);
    const auto length = load_number<std::uint16_t>(block.body + at + 2, swapped_);
    const std::byte* value = block.body + at + 4;
    at += 4 + (length + 3u) / 4 * 4;
    if (code == kOptionEnd || at > block.body_bytes) return;
    if (code == kOptionResolution && length == 1) {
      interface.ticks_per_second = ticks_of_resolution(static_cast<std::uint8_t>(*value));
    }
    if (code == kOptionOffset && length == 8) {
      interface.offset_seconds =
          static_cast<std::int64_t>(load_number<std::uint64_t>(value, swapped_));
    }
  }
}

/// The interface of the block's packet; null: unknown, or the block is too short for a packet.
const PcapngReader::Interface* PcapngReader::interface_of(const Block& block) const noexcept {
  std::uint32_t number = 0;
  if (block.type != kSimplePacket) {
    if (block.body_bytes < kPacketHeadBytes) return nullptr;
    // The obsolete block has 16 bits of interface number, then a drop count.
    number = block.type == kEnhancedPacket ? load_number<std::uint32_t>(block.body, swapped_)
                                           : load_number<std::uint16_t>(block.body, swapped_);
  }
  return number < interfaces_.size() ? &interfaces_[number] : nullptr;
}

CaptureStatus PcapngReader::packet(const Block& block, const Interface& from,
                                   CaptureRecord& record) const noexcept {
  const auto word = [&](std::uint32_t at) {
    return load_number<std::uint32_t>(block.body + at, swapped_);
  };
  const std::uint32_t captured = word(12);
  if (captured > kCaptureLengthMax || captured > block.body_bytes - kPacketHeadBytes) {
    return CaptureStatus::kCorrupt;
  }
  const std::uint64_t ticks = std::uint64_t{word(4)} << 32 | word(8);
  record.time_ns = nanoseconds(ticks, from.ticks_per_second, from.offset_seconds);
  record.wire_length = word(16);
  record.bytes = {block.body + kPacketHeadBytes, captured};
  return CaptureStatus::kRecord;
}

CaptureStatus PcapngReader::simple_packet(const Block& block, const Interface& from,
                                          CaptureRecord& record) const noexcept {
  if (block.body_bytes < 4) return CaptureStatus::kCorrupt;
  record.time_ns = 0;
  record.wire_length = load_number<std::uint32_t>(block.body, swapped_);
  const std::uint32_t captured = std::min(record.wire_length, from.snap_length);
  if (captured > block.body_bytes - 4) return CaptureStatus::kCorrupt;
  record.bytes = {block.body + 4, captured};
  return CaptureStatus::kRecord;
}

}  // namespace millrace
