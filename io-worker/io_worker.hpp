// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "io-worker/ports/port.hpp"
#include "shared/control/actor_process.hpp"

namespace millrace {

/// What stands before an egress's transmit queue: tests lose or delay packets there. Called once a
/// queue.
using WrapTx = std::function<std::unique_ptr<TxQueue>(std::unique_ptr<TxQueue>)>;

/// One ingress (a receive queue) or one egress (a transmit queue at each port), as the plan says.
/// Returns when it is to end. Throws Error.
void run_io_worker(ActorProcess& process, const WrapTx& wrap = {});

}  // namespace millrace
