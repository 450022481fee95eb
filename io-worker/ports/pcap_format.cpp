// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcap_format.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::uint32_t kLinkTypeMask = 0x03ffffff;

bool is_magic(std::uint32_t magic) {
  return magic == kPcapMagicMicroseconds || magic == kPcapMagicNanoseconds;
}

void put_words(std::byte* to, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    std::memcpy(to, &word, sizeof(word));
    to += sizeof(word);
  }
}

}  // namespace

bool is_pcap(const std::byte* magic) noexcept {
  return is_magic(load_number<std::uint32_t>(magic, false)) ||
         is_magic(load_number<std::uint32_t>(magic, true));
}

PcapFormat parse_pcap_header(const std::byte* header) {
  PcapFormat format;
  format.swapped = !is_magic(load_number<std::uint32_t>(header, false));
  const auto word = [&](std::size_t at) {
    return load_number<std::uint32_t>(header + at, format.swapped);
  };
  format.nanoseconds = word(0) == kPcapMagicNanoseconds;
  const auto major = load_number<std::uint16_t>(header + 4, format.swapped);
  format.version_minor = load_number<std::uint16_t>(header + 6, format.swapped);
  if (major != 2 || format.version_minor > 4) {
    throw Error("pcap version " + std::to_string(major) + "." +
                std::to_string(format.version_minor) + "; known: 2.0 to 2.4");
  }
  const std::uint32_t snap_length = word(16);
  if (snap_length != 0) format.snap_length = std::min(snap_length, kCaptureLengthMax);
  format.link_type = word(20) & kLinkTypeMask;
  return format;
}

CaptureStatus next_pcap_record(FileWindow& window, const PcapFormat& format,
                               CaptureRecord& record) noexcept {
  const std::byte* header = window.need(kPcapRecordHeaderBytes);
  if (header == nullptr) return window.why_ended(false);
  const auto word = [&](std::size_t at) {
    return load_number<std::uint32_t>(header + at, format.swapped);
  };
  std::uint32_t captured = word(8);
  std::uint32_t wire = word(12);
  // Writers before version 2.3 had the two lengths the other way round; 2.3 had both kinds.
  if (format.version_minor < 3 || (format.version_minor == 3 && captured > wire)) {
    std::swap(captured, wire);
  }
  if (captured > kCaptureLengthMax) return CaptureStatus::kCorrupt;
  record.time_ns =
      word(0) * kNanosecondsPerSecond + word(4) * (format.nanoseconds ? 1ull : 1000ull);
  record.wire_length = wire;
  const std::byte* all = window.need(kPcapRecordHeaderBytes + captured);
  if (all == nullptr) return window.why_ended(true);
  record.bytes = {all + kPcapRecordHeaderBytes, std::min(captured, format.snap_length)};
  window.consume(kPcapRecordHeaderBytes + captured);
  return CaptureStatus::kRecord;
}

void put_pcap_header(std::byte* header) noexcept {
  constexpr std::uint32_t kVersion24 = 4u << 16 | 2u;
  put_words(header,
            {kPcapMagicNanoseconds, kVersion24, 0, 0, kCaptureLengthMax, kLinkTypeEthernet});
}

void put_pcap_record_header(std::byte* header, std::uint64_t time_ns, std::uint32_t length,
                            std::uint32_t wire_length) noexcept {
  put_words(header,
            {static_cast<std::uint32_t>(time_ns / kNanosecondsPerSecond),
             static_cast<std::uint32_t>(time_ns % kNanosecondsPerSecond), length, wire_length});
}

}  // namespace millrace
