// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io-worker/ports/port.hpp"

/// Device `loop`: packets that it sends come in again. Settings: README.md. Its queues lie in the
/// segment: io-worker/loop/.

namespace millrace {

void check_loop(const PlanPort& port);
PortQueues loop_queues(const PlanPort& port);

}  // namespace millrace
