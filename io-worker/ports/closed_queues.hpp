// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "io-worker/ports/port.hpp"

/// Queues of a file that cannot be opened when its actor is restarted: the actor's other ports go
/// on, and trouble() tells operators why, and how to restart the actor. The queues stay closed
/// until then, whatever the error was: nothing tries again.

namespace millrace {

/// A queue that is exhausted, with one error. `why`: for people; cut at its start when it is long.
std::unique_ptr<RxQueue> closed_rx(std::string_view why);
/// A queue that has failed: packets sent to it are dropped as no_output.
std::unique_ptr<TxQueue> closed_tx(std::string_view why);

}  // namespace millrace
