// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace millrace {

/// Longest record of a capture; libpcap's MAXIMUM_SNAPLEN. A longer one means that the file is
/// corrupt.
inline constexpr std::uint32_t kCaptureLengthMax = 262144;
inline constexpr std::uint32_t kLinkTypeEthernet = 1;  ///< LINKTYPE_ETHERNET of tcpdump.org

/// One packet of a capture. The bytes are borrowed from the reader until its next call.
struct CaptureRecord {
  std::span<const std::byte> bytes;
  std::uint32_t wire_length = 0;  ///< as the file has it; may be less than the bytes in bad files
  std::uint64_t time_ns = 0;      ///< since 1970; 0 when the file has no time
};

enum class CaptureStatus : std::uint8_t {
  kRecord,     ///< a packet
  kEnd,        ///< the file ends behind a whole record
  kTruncated,  ///< the file ends inside a record
  kCorrupt,    ///< what follows cannot be a record
  kUnreadable  ///< read(2) failed
};

/// An integer of a file in the byte order of its writer: `swapped` when that is not ours.
template <typename Number>
Number load_number(const std::byte* from, bool swapped) {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  if (!swapped) return number;
  if constexpr (sizeof(Number) == 2) return static_cast<Number>(__builtin_bswap16(number));
  if constexpr (sizeof(Number) == 4) return __builtin_bswap32(number);
  if constexpr (sizeof(Number) == 8) return static_cast<Number>(__builtin_bswap64(number));
}
static_assert(std::endian::native == std::endian::little);

}  // namespace millrace
