// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/autoscaling.hpp"

#include <utility>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::chrono::seconds kLook{1};

}  // namespace

std::vector<Autoscaler::Spent> Autoscaling::spent_in(std::uint32_t group) const {
  MILLRACE_CHECK(fleet_.status() != nullptr);
  std::vector<Autoscaler::Spent> workers;
  for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
    const PlanActor& one = plan_.actors[actor];
    if (!is_of_group(one.kind) || one.group != group || fleet_.state(actor) != ActorState::kAlive)
      continue;
    const StatusSource::Facts facts = fleet_.status()->facts(actor);
    workers.push_back({actor, facts.busy_ticks, facts.idle_ticks});
  }
  return workers;
}

std::optional<ChangeRequest> Autoscaling::look(Clock::time_point now, bool busy) {
  if (now < next_look_ || fleet_.status() == nullptr) return std::nullopt;
  next_look_ = now + kLook;
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
    const PlanAutoscale& limits = plan_.groups[group].autoscale;
    if (autoscalers_.size() <= group) autoscalers_.emplace_back(limits);
    Autoscaler& scaler = autoscalers_[group];
    if (scaler.limits() != limits) scaler = Autoscaler(limits);
    if (busy) scaler.forget();
    if (busy || limits.min == 0) continue;
    const std::vector<Autoscaler::Spent> workers = spent_in(group);
    const std::uint32_t wanted = scaler.look(workers);
    if (workers.empty() || wanted == workers.size()) continue;
    if (scaling_.wanted_count(group) != workers.size()) continue;  // one is being started again
    ChangeRequest request{.scale = {{plan_.groups[group].name, wanted}}};
    request.what = "autoscale " + plan_.groups[group].name + "=" + std::to_string(wanted);
    return request;
  }
  return std::nullopt;
}

}  // namespace millrace
