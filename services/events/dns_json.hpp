// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace millrace {

/// Adds EVE's object `dns`, version 2, for an event's text (event_text.hpp) with fields of DNS: of
/// a question or an answer, as the header says. `transaction`: its number.
void put_dns(std::span<const std::byte> text, std::optional<std::uint64_t> transaction,
             std::string& out);

/// The name of a type ("A", "NS"), or its number if it has no name.
std::string dns_type_name(std::uint16_t type);

}  // namespace millrace
