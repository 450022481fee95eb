// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

/// The value of a setting `key` that is a rate: 0 to 1,000,000 a second. Throws Error that names
/// the key.
std::uint32_t parse_rate(std::string_view key, const std::string& value);

}  // namespace millrace
