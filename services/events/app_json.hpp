// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

/// What a line says of an event's text (event_text.hpp): keys of an object that is begun, as EVE
/// has them. Whatever the text holds, they are valid JSON.

namespace millrace {

/// The objects `http`, `dns`, `tls`, `ssh`, `smtp` and `tunnel`, as far as `text` has fields of
/// them, and the keys `payload`, `payload_printable`, `packet` and `packet_info`. `transaction`:
/// its number, for `dns`.
void put_fields(std::span<const std::byte> text, std::optional<std::uint64_t> transaction,
                std::string& out);

/// For the object `millrace`: the key `cut`, names of what is not there as long as it was.
void put_cut_fields(std::span<const std::byte> text, std::string& out);

}  // namespace millrace
