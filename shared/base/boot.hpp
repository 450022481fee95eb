// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

/// Monotonic time since boot, for deadlines that a change of the clock must not move.

namespace millrace {

/// Since the host's boot, with the time in which it slept; the same for all processes of a boot.
std::uint64_t boot_clock_ns() noexcept;

/// Another one after each boot; empty: not known.
std::string boot_id();

}  // namespace millrace
