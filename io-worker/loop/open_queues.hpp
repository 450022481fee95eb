// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"

namespace millrace {

/// The receive queue of `stream`, by open_rx_queue() or, of a loop, in the segment. Not for DPDK
/// ports. `context`: its ingress's.
std::unique_ptr<RxQueue> open_rx(const ActorContext& context, std::uint32_t stream,
                                 const BufferSource& pool, bool restarted,
                                 const std::string& run_dir);

/// The transmit queue of an egress at `port`, likewise. `context`: the egress's.
std::unique_ptr<TxQueue> open_tx(const ActorContext& context, std::uint32_t port, bool restarted,
                                 const std::string& run_dir);

}  // namespace millrace
