// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace millrace {

/// Compiles an expression with PCRE2 and throws it away. Returns how many groups it captures.
/// Throws RuleRefused: what PCRE2 says, and at which byte.
std::uint32_t check_expression(const std::string& expression, std::uint32_t flags);

}  // namespace millrace
