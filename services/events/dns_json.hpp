// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace millrace {

/// EVE's object `dns`, version 2, of an event's text (event_text.hpp) that has fields of DNS: of a
/// question or an answer, as the header says. `transaction`: its number.
void put_dns(std::span<const std::byte> text, std::optional<std::uint64_t> transaction,
             std::string& out);

/// "A", "NS"; of one without a name its number.
std::string dns_type_name(std::uint16_t type);

}  // namespace millrace
