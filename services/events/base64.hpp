// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace millrace {

/// RFC 4648, 4, with its padding.
std::string base64_of(std::span<const std::byte> bytes);

}  // namespace millrace
