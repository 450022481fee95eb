// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

/// The part of a line about an event's text (event_text.hpp): adds keys, as EVE has them, to the
/// object that was begun last. Whatever the text holds, the line stays valid JSON.

namespace millrace {

/// Adds the objects `http`, `dns`, `tls`, `ssh`, `smtp` and `tunnel` of which `text` has fields,
/// and the keys `payload`, `payload_printable`, `packet` and `packet_info`. `transaction`: its
/// number, for `dns`.
void put_fields(std::span<const std::byte> text, std::optional<std::uint64_t> transaction,
                std::string& out);

/// Adds the key `cut` to the object `millrace`: the names of fields that were shortened.
void put_cut_fields(std::span<const std::byte> text, std::string& out);

}  // namespace millrace
