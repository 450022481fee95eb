// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/drain_word.hpp"

#include "shared/base/clock.hpp"

namespace millrace {

DrainWord::DrainWord(const Plan& plan)
    : plan_(plan), mapping_(Mapping::attach_status(status_file_name(plan.name), true)) {
  view_ = StatusView::attach(mapping_.base(), mapping_.bytes(), plan);
}

void DrainWord::set(bool drained) {
  view_.header().drained.store(drained ? kPortsRest : 0, std::memory_order_seq_cst);
  _mm_lfence();  // the counter is read when the word can be seen
  since_tsc_ = tsc_now();
}

bool DrainWord::cut_loops() {
  std::uint64_t now = kPortsRest;
  return view_.header().drained.compare_exchange_strong(now, kLoopsCut);
}

/// A heartbeat is the tick at which a round begins, and the round before it has ended by then. So
/// a newer one says that `exhausted` is of a round that began after the word, or of one that found
/// nothing in hand and is followed by such rounds only.
bool DrainWord::rests(std::uint32_t ingress) const {
  const ActorEntry& entry = view_.actor(ingress);
  switch (static_cast<ActorState>(entry.state.load(std::memory_order_acquire))) {
    case ActorState::kVacant:
    case ActorState::kQuarantined:
      return true;  // the next life looks at the word before it reads
    case ActorState::kAlive:
    case ActorState::kDraining:
      return entry.heartbeat_tsc.load(std::memory_order_acquire) > since_tsc_ &&
             entry.exhausted.load(std::memory_order_acquire) != 0;
    default:
      return false;
  }
}

std::vector<std::string> DrainWord::still_reading() const {
  std::vector<std::string> names;
  for (const PlanStream& stream : plan_.streams) {
    if (!rests(stream.ingress)) names.push_back(plan_.actors[stream.ingress].name);
  }
  return names;
}

}  // namespace millrace
