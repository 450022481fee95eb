// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace millrace {

/// What recovery needs of the drivers of a dead ingress's or egress's queues, before it frees the
/// buffers that they hold. This base class is for queues that end with their process (sockets).
/// Called by the leader only; nothing here blocks for long.
class DriverQueues {
 public:
  virtual ~DriverQueues() = default;
  /// Called when the actor's exit is certain and every living actor has acknowledged it. True once
  /// no device touches a buffer of its queues any more; false: call again. First called while the
  /// actor is fenced: by the time of start() all have acknowledged that it is reclaiming, and so
  /// have read the stopped queues.
  virtual bool stop(std::uint32_t actor) {
    static_cast<void>(actor);
    return true;
  }
  /// Called when its buffers are free. True once its queues can serve a successor; false: call
  /// again. Adds to `rest` buffers of living actors that no queue holds any more: they go back to
  /// their pools.
  virtual bool start(std::uint32_t actor, std::vector<std::uint32_t>& rest) {
    static_cast<void>(actor);
    static_cast<void>(rest);
    return true;
  }
};

}  // namespace millrace
