// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "shared/layout/status_file.hpp"

namespace millrace {

/// From here on a signal that the process itself raises (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT
/// of abort()) writes `incarnation` into ActorEntry::fault, and then ends the process as it
/// would have. So recovery tells a fault of a function from a kill from outside.
/// `entry` is borrowed for good. Called once by the thread that runs the actor; for several actors
/// of a process (`placement: fused`) once each.
void note_own_faults(ActorEntry& entry, std::uint32_t incarnation) noexcept;

}  // namespace millrace
