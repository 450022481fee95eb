// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/base/clock.hpp"

/// The time of a thread that works in turns. Reading the counter takes 10 to 25 ns and a turn of
/// the data path often no more than 500, so one reading ends a step of a batch, ends the turn and
/// begins the next one, be it another actor's on the same thread. Where batches are many, most
/// steps end without a reading.

namespace millrace::turn_clock {

inline thread_local constinit std::uint64_t last_tsc = 0;  ///< 0: not read yet
inline thread_local constinit bool went_on = false;        ///< a step has ended since

/// The time now. Also for a thread that has slept or waited, before it goes on.
inline std::uint64_t read() noexcept {
  went_on = false;
  return last_tsc = tsc_now();
}

/// When it was read last: at the earliest when the present turn began.
inline std::uint64_t last() noexcept { return last_tsc != 0 ? last_tsc : read(); }

/// A step has ended for which the counter is not read.
inline void go_on() noexcept { went_on = true; }

/// A turn that began at `began_tsc` has ended: with the last reading in it, or now when something
/// was done behind that.
inline std::uint64_t end_turn(std::uint64_t began_tsc) noexcept {
  return last_tsc != began_tsc && !went_on ? last() : read();
}

}  // namespace millrace::turn_clock
