// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/base/clock.hpp"

/// The time of a thread that works in turns. Reading the counter takes 10 to 25 ns and a turn of
/// the data path often no more than 500, so one reading ends a step of a batch, ends the turn and
/// begins the next one, be it another actor's on the same thread.

namespace millrace::turn_clock {

inline thread_local constinit std::uint64_t last_tsc = 0;  ///< 0: not read yet

/// The time now. Also for a thread that has slept or waited, before it goes on.
inline std::uint64_t read() noexcept { return last_tsc = tsc_now(); }

/// When it was read last: at the earliest when the present turn began.
inline std::uint64_t last() noexcept { return last_tsc != 0 ? last_tsc : read(); }

}  // namespace millrace::turn_clock
