// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/packet/internet_checksum.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {

/// Fills in a transport checksum that was left to hardware: the field holds the sum of the pseudo
/// header, the rest from `start` to the end of `frame` is added (RFC 1071). Offsets from outside:
/// those that lie beyond the frame change nothing. `field`: from `start`.
inline void complete_checksum(std::span<std::byte> frame, std::size_t start,
                              std::size_t field) noexcept {
  if (start + field + 2 > frame.size()) return;
  std::uint16_t value = internet_checksum(frame.subspan(start));
  if (value == 0) value = 0xffff;  // UDP: 0 means none; the same sum for all others
  wire_bytes::put16(frame, start + field, value);
}

/// The same for a packet without a sign that it is needed: TCP or UDP over IP, whole and no
/// fragment, with exactly the sum of its pseudo header in the field. Where the right checksum
/// happens to equal that sum, it stays.
void complete_bare_checksum(std::span<std::byte> frame) noexcept;

}  // namespace millrace
