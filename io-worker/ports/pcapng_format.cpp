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

bool PcapngReader::open(FileWindow& window) noexcept {
  Block block;
  while (interface_count_ == 0) {
    if (next_block(window, block) != CaptureStatus::kRecord) return false;
    if (block.type == kEnhancedPacket || block.type == kSimplePacket ||
        block.type == kPacketBlock) {
      return false;
    }
  }
  return true;
}

CaptureStatus PcapngReader::next(FileWindow& window, CaptureRecord& record) noexcept {
  Block block;
  for (;;) {
    const CaptureStatus status = next_block(window, block);
    if (status != CaptureStatus::kRecord) return status;
    if (block.type == kSimplePacket) return simple_packet(block, record);
    if (block.type == kEnhancedPacket || block.type == kPacketBlock) return packet(block, record);
  }
}

CaptureStatus PcapngReader::next_block(FileWindow& window, Block& block) noexcept {
  const std::byte* head = window.need(kHeadBytes);
  if (head == nullptr) {
    const bool whole = window.at_end();
    if (window.failed()) return CaptureStatus::kCorrupt;
    return whole ? CaptureStatus::kEnd : CaptureStatus::kTruncated;
  }
  block.type = load_number<std::uint32_t>(head, swapped_);
  if (block.type == kPcapngSectionHeader && !begin_section(window)) return CaptureStatus::kCorrupt;
  head = window.need(kHeadBytes);
  block.bytes = load_number<std::uint32_t>(head + 4, swapped_);
  if (block.bytes < kFrameBytes || block.bytes % 4 != 0 || block.bytes > kPcapngBlockBytesMax) {
    return CaptureStatus::kCorrupt;
  }
  if (block.bytes > kBlockReadMax) return skip_block(window, block);

  const std::byte* all = window.need(block.bytes);
  if (all == nullptr) return CaptureStatus::kTruncated;
  if (load_number<std::uint32_t>(all + block.bytes - 4, swapped_) != block.bytes) {
    return CaptureStatus::kCorrupt;
  }
  block.body = all + kHeadBytes;
  block.body_bytes = block.bytes - kFrameBytes;
  window.consume(block.bytes);
  if (block.type == kInterfaceDescription && !add_interface(block)) return CaptureStatus::kCorrupt;
  return CaptureStatus::kRecord;
}

// A packet cannot be so long, so the block is of a kind that nobody here reads.
CaptureStatus PcapngReader::skip_block(FileWindow& window, Block& block) noexcept {
  if (!window.skip(block.bytes - 4)) return CaptureStatus::kTruncated;
  const std::byte* end = window.need(4);
  if (end == nullptr) return CaptureStatus::kTruncated;
  if (load_number<std::uint32_t>(end, swapped_) != block.bytes) return CaptureStatus::kCorrupt;
  window.consume(4);
  block.body = nullptr;
  block.body_bytes = 0;
  return CaptureStatus::kRecord;
}

bool PcapngReader::begin_section(FileWindow& window) noexcept {
  const std::byte* head = window.need(kHeadBytes + 4);
  if (head == nullptr) return false;
  const auto magic = load_number<std::uint32_t>(head + kHeadBytes, false);
  if (magic != kByteOrderMagic && magic != __builtin_bswap32(kByteOrderMagic)) return false;
  swapped_ = magic != kByteOrderMagic;
  interface_count_ = 0;
  return true;
}

bool PcapngReader::add_interface(const Block& block) noexcept {
  if (block.body_bytes < 8) return false;
  if (interface_count_ == kPcapngInterfaceCountMax) return true;
  Interface interface;
  interface.link_type = load_number<std::uint16_t>(block.body, swapped_);
  const auto snap_length = load_number<std::uint32_t>(block.body + 4, swapped_);
  if (snap_length != 0) interface.snap_length = std::min(snap_length, kCaptureLengthMax);
  read_interface_options(block, interface);
  interfaces_[interface_count_++] = interface;
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

CaptureStatus PcapngReader::packet(const Block& block, CaptureRecord& record) const noexcept {
  if (block.body_bytes < kPacketHeadBytes) return CaptureStatus::kCorrupt;
  const auto word = [&](std::uint32_t at) {
    return load_number<std::uint32_t>(block.body + at, swapped_);
  };
  // The obsolete block has 16 bits of interface number, then a drop count.
  const std::uint32_t number =
      block.type == kEnhancedPacket ? word(0) : load_number<std::uint16_t>(block.body, swapped_);
  const std::uint32_t captured = word(12);
  if (number >= interface_count_ || interfaces_[number].link_type != kLinkTypeEthernet ||
      captured > kCaptureLengthMax || captured > block.body_bytes - kPacketHeadBytes) {
    return CaptureStatus::kCorrupt;
  }
  const Interface& from = interfaces_[number];
  const std::uint64_t ticks = std::uint64_t{word(4)} << 32 | word(8);
  record.time_ns = nanoseconds(ticks, from.ticks_per_second, from.offset_seconds);
  record.wire_length = word(16);
  record.bytes = {block.body + kPacketHeadBytes, captured};
  return CaptureStatus::kRecord;
}

CaptureStatus PcapngReader::simple_packet(const Block& block,
                                          CaptureRecord& record) const noexcept {
  if (block.body_bytes < 4 || interface_count_ == 0 ||
      interfaces_[0].link_type != kLinkTypeEthernet) {
    return CaptureStatus::kCorrupt;
  }
  record.time_ns = 0;
  record.wire_length = load_number<std::uint32_t>(block.body, swapped_);
  const std::uint32_t captured = std::min(record.wire_length, interfaces_[0].snap_length);
  if (captured > block.body_bytes - 4) return CaptureStatus::kCorrupt;
  record.bytes = {block.body + 4, captured};
  return CaptureStatus::kRecord;
}

}  // namespace millrace
