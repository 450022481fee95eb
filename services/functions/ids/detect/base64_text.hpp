// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "services/functions/ids/rules/rule_match.hpp"

/// Base64 as rules mean it: forgiving, as what programs that read it make of it counts.

namespace millrace {

struct Base64Text {
  std::size_t written = 0;  ///< bytes of the output
  bool has_ended = false;   ///< the text ends before the input does: what follows changes nothing
};

/// Decodes from the begin of `text` as far as `out` has room. Padding shortens its group of four
/// and ends nothing but in Base64Form::kFolded. `is_all`: nothing follows, so a group of less than
/// four counts, too: one character makes a byte, as in Suricata.
Base64Text decode_base64(std::span<const std::byte> text, Base64Form form, bool is_all,
                         std::span<std::byte> out) noexcept;

/// Bytes that `text` bytes of base64 make at most.
constexpr std::size_t base64_bytes_max(std::size_t text) noexcept { return (text + 3) / 4 * 3; }

}  // namespace millrace
