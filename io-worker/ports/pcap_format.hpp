// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "io-worker/ports/capture_record.hpp"
#include "io-worker/ports/file_window.hpp"

/// Classic pcap files (draft-ietf-opsawg-pcap): a header of 24 bytes, then records of a header of
/// 16 bytes and the packet.
///
/// | file header | bytes | | record header | bytes |
/// |---|--:|---|---|--:|
/// | magic | 4 | | seconds | 4 |
/// | version major, minor | 2, 2 | | micro- or nanoseconds | 4 |
/// | reserved | 8 | | captured length | 4 |
/// | snap length | 4 | | length on the wire | 4 |
/// | link type (26 bits), FCS length | 4 | | | |

namespace millrace {

inline constexpr std::uint32_t kPcapMagicMicroseconds = 0xa1b2c3d4;
inline constexpr std::uint32_t kPcapMagicNanoseconds = 0xa1b23c4d;
inline constexpr std::size_t kPcapFileHeaderBytes = 24;
inline constexpr std::size_t kPcapRecordHeaderBytes = 16;

/// What the file header says.
struct PcapFormat {
  bool swapped = false;
  bool nanoseconds = false;
  std::uint16_t version_minor = 4;
  std::uint32_t snap_length = kCaptureLengthMax;  ///< records are cut to it, as libpcap does
  std::uint32_t link_type = kLinkTypeEthernet;
};

/// True when the first four bytes of a file are one of the classic magic numbers.
bool is_pcap(const std::byte* magic) noexcept;

/// Parses the 24 bytes of a file header with a classic magic. Throws Error for a version other than
/// 2.0 to 2.4.
PcapFormat parse_pcap_header(const std::byte* header);

/// Reads the next record. Nothing of a record is consumed unless all of it is there.
CaptureStatus next_pcap_record(FileWindow& window, const PcapFormat& format,
                               CaptureRecord& record) noexcept;

/// Writes the 24 bytes of a header in our byte order: nanoseconds, Ethernet, the longest snap
/// length.
void put_pcap_header(std::byte* header) noexcept;

/// Writes the 16 bytes of a record header for put_pcap_header()'s files.
void put_pcap_record_header(std::byte* header, std::uint64_t time_ns, std::uint32_t length,
                            std::uint32_t wire_length) noexcept;

}  // namespace millrace
