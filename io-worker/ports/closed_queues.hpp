// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "io-worker/ports/port.hpp"

/// Queues of a file that cannot be opened when its actor is restarted: the actor's other ports go
/// on, and operators are told why, and how to restart the actor (trouble()). They stay so until it
/// is restarted, whatever the error was: nothing tries again.

namespace millrace {

/// Exhausted, with one error. `why`: for people; its end is kept when it is long.
std::unique_ptr<RxQueue> closed_rx(std::string_view why);
/// It has failed: what is sent is dropped as no_output.
std::unique_ptr<TxQueue> closed_tx(std::string_view why);

}  // namespace millrace
