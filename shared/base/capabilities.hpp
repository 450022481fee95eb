// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Giving up rights. Linux keeps capabilities by thread, so this is done before threads start.

namespace millrace {

/// Linux capabilities (capabilities(7)): bit CAP_X of <linux/capability.h> for CAP_X.
using Capabilities = std::uint64_t;

constexpr Capabilities capability(int number) noexcept { return Capabilities{1} << number; }

/// The calling thread and all that it starts later have none but `keep`, of what it has: permitted,
/// effective and bounding set; inheritable and ambient ones are empty. No program that they execute
/// gets more, not by its owner nor by its file (PR_SET_NO_NEW_PRIVS). Cannot be undone. A process
/// that may not change the bounding set (CAP_SETPCAP) leaves it as it is: nothing can be drawn from
/// it any more. Throws Error.
void keep_capabilities(Capabilities keep);

}  // namespace millrace
