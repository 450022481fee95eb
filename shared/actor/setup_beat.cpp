// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/actor/setup_beat.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "shared/base/clock.hpp"

namespace millrace {

SetupBeat::SetupBeat(std::vector<ActorContext> actors)
    : actors_(std::move(actors)), thread_([this](const std::stop_token& stop) { beat(stop); }) {}

void SetupBeat::beat(const std::stop_token& stop) const {
  constexpr std::chrono::milliseconds kInterval{10};
  const auto end = std::chrono::steady_clock::now() + kLimit;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < end) {
    for (const ActorContext& actor : actors_) {
      actor.my_entry().heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
    }
    stopped.wait_for(lock, stop, kInterval, [] { return false; });
  }
}

}  // namespace millrace
