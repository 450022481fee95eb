// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io-worker/ports/port.hpp"

/// Device `dpdk`: any port that a DPDK driver serves. Settings: README.md. Its queues are opened by
/// io-worker/driver/, which programs that only check a topology do without.

namespace millrace {

void check_dpdk(const PlanPort& port);
PortQueues dpdk_queues(const PlanPort& port);

}  // namespace millrace
