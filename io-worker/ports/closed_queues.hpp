// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "io-worker/ports/port.hpp"

/// Queues of a file that cannot be opened when its actor is restarted: the actor's other ports go
/// on, and operators are told why (trouble()). A thread of the queue's own tries to open the file
/// again, first after a second, then ever less often; the data thread goes on with what it has
/// opened. The thread begins with the first roster_moved(), when the process has given up its
/// rights, and ends with the queue.

namespace millrace {

struct ReopenPauses {
  std::chrono::milliseconds first{1000};  ///< doubles with each try
  std::chrono::milliseconds longest{30'000};
};

/// Opens it, or throws Error. Called by a thread of the queue's.
using OpenRx = std::function<std::unique_ptr<RxQueue>()>;
using OpenTx = std::function<std::unique_ptr<TxQueue>()>;

/// Until it is opened it is exhausted, with one error. `why`: for people; its end is kept when it
/// is long.
std::unique_ptr<RxQueue> closed_rx(std::string_view why, OpenRx open, ReopenPauses pauses = {});
/// Of an interface that is gone: nothing comes, with one error, and nothing tries to open it. It is
/// not exhausted.
std::unique_ptr<RxQueue> absent_rx(std::string_view interface);
/// Until it is opened it has failed: what is sent is dropped as no_output.
std::unique_ptr<TxQueue> closed_tx(std::string_view why, OpenTx open, ReopenPauses pauses = {});

}  // namespace millrace
