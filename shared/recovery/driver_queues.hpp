// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace millrace {

/// The receive queue of a dead ingress, the transmit queues of a dead egress: what recovery needs
/// of their drivers before it frees the buffers that they hold. This one is for queues that end
/// with their process (sockets). Called by the leader only; nothing here blocks for long.
class DriverQueues {
 public:
  virtual ~DriverQueues() = default;
  /// The actor's exit is certain and every living actor has acknowledged it. True once no device
  /// touches a buffer of its queues any more; false: it is asked again. Asked first while the actor
  /// is fenced: by the time of start() all have acknowledged that it is reclaiming, and so has
  /// had a look at queues that are stopped.
  virtual bool stop(std::uint32_t actor) {
    static_cast<void>(actor);
    return true;
  }
  /// Its buffers are free. True once its queues can serve a successor; false: it is asked again.
  /// Adds to `rest` buffers of the living that no queue holds any more: they go home.
  virtual bool start(std::uint32_t actor, std::vector<std::uint32_t>& rest) {
    static_cast<void>(actor);
    static_cast<void>(rest);
    return true;
  }
};

}  // namespace millrace
