// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Time that cannot be set, for what is to be so long after something whatever the clocks are told.

namespace millrace {

/// Since the host's boot, with the time in which it slept; the same for all processes of a boot.
std::uint64_t boot_clock_ns() noexcept;

/// Another one after each boot; empty: not known.
std::string boot_id();

}  // namespace millrace
