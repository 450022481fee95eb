// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "io-worker/ports/port.hpp"

/// Device `null`: receives nothing, and discards the packets that it sends. Settings: README.md.

namespace millrace {

void check_null(const PlanPort& port);
PortQueues null_queues(const PlanPort& port);
std::unique_ptr<RxQueue> open_null_rx(const PlanPort& port, std::uint32_t queue,
                                      const BufferSource& pool, bool restarted);
std::unique_ptr<TxQueue> open_null_tx(const PlanPort& port, std::uint32_t queue, bool restarted);

}  // namespace millrace
