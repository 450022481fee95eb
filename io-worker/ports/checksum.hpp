// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace millrace {

/// Sum of 16 bits that stands for a longer one (RFC 1071).
inline std::uint16_t folded_sum(std::uint64_t sum) noexcept {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

/// Of 16-bit words as they lie in memory; behind an odd number of bytes a zero is thought.
inline std::uint16_t sum_of_words(std::span<const std::byte> bytes) noexcept {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += word;
  }
  std::uint32_t rest = 0;
  std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return folded_sum(sum + rest);
}

/// Fills in a transport checksum that was left to hardware: the field holds the sum of the pseudo
/// header, the rest from `start` to the end of `frame` is added (RFC 1071). Offsets from outside:
/// those that lie beyond the frame change nothing. `field`: from `start`.
inline void complete_checksum(std::span<std::byte> frame, std::size_t start,
                              std::size_t field) noexcept {
  if (start + field + 2 > frame.size()) return;
  auto value = static_cast<std::uint16_t>(~sum_of_words(frame.subspan(start)));
  if (value == 0) value = 0xffff;  // UDP: 0 means none; the same sum for all others
  std::memcpy(frame.data() + start + field, &value, sizeof value);
}

/// The same where nothing says that it is needed: a TCP or UDP packet over IP, whole and no
/// fragment, whose field holds exactly the sum of its pseudo header. One that came so by chance
/// gets the checksum that it had.
void complete_bare_checksum(std::span<std::byte> frame) noexcept;

}  // namespace millrace
