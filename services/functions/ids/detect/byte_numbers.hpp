// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/ids/rules/rule_match.hpp"

/// Reads numbers out of packets as a rule's NumberFormat says.

namespace millrace {

struct ReadNumber {
  std::uint64_t value;
  std::uint8_t length;  ///< bytes that make it up: of text, blanks in front and digits
};

/// At most so many bytes of text whose end the rule does not say are looked at: more digits than
/// fit in 64 bits.
inline constexpr std::uint8_t kOpenTextBytes = 24;

/// `bytes`: exactly format.bytes of them; of text with 0, up to kOpenTextBytes. Text is read as by
/// strtoull(): blanks, a sign and, of base 16, "0x" may stand in front, and what follows the digits
/// does not matter. None: no digit, or more than 64 bits, or no such format.
std::optional<ReadNumber> read_number(std::span<const std::byte> bytes,
                                      const NumberFormat& format) noexcept;

/// The bits of `mask`, moved down by its low zeros. With mask 0 the value itself.
std::uint64_t masked(std::uint64_t value, std::uint32_t mask) noexcept;

}  // namespace millrace
