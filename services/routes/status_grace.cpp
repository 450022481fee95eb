// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/routes/status_grace.hpp"

#include <algorithm>
#include <atomic>

namespace millrace {
namespace {

constexpr std::uint64_t kMarginsASecond = 1000;

}  // namespace

StatusGrace::StatusGrace(const Plan& plan, StatusView status)
    : status_(status), margin_(status.header().tsc_hz / kMarginsASecond) {
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const ActorKind kind = plan.actors[actor].kind;
    if (is_of_group(kind) || kind == ActorKind::kEgress) readers_.push_back(actor);
  }
}

std::uint64_t StatusGrace::now() {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // readers see the table's change by then
  return tsc_now();
}

bool StatusGrace::passed(std::uint64_t moment) {
  return std::ranges::all_of(readers_, [&](std::uint32_t actor) {
    const ActorEntry& entry = status_.actor(actor);
    // A process that starts later maps the table as it is then.
    return static_cast<ActorState>(entry.state.load(std::memory_order_acquire)) ==
               ActorState::kVacant ||
           entry.heartbeat_tsc.load(std::memory_order_acquire) > moment + margin_;
  });
}

}  // namespace millrace
