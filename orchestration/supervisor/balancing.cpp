// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/balancing.hpp"

#include <algorithm>
#include <atomic>

#include "orchestration/supervisor/status_source.hpp"
#include "shared/base/clock.hpp"
#include "shared/config/plan_settings.hpp"
#include "shared/layout/latency.hpp"
#include "shared/links/offload_word.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kLookEach{200};

/// Batches, and the time that they were in a stage, together.
struct Sum {
  std::uint64_t batches = 0, ns = 0;
};

void add(const LatencyHistogram& histogram, Sum& sum) {
  for (const std::atomic<std::uint64_t>& count : histogram.count) {
    sum.batches += count.load(std::memory_order_relaxed);
  }
  sum.ns += histogram.sum_ns.load(std::memory_order_relaxed);
}

/// What was computed in a gpu group's place, by the classifiers beside it.
Sum beside(const Plan& plan, const StatusView& status, std::uint32_t group) {
  Sum sum;
  std::uint64_t ticks = 0;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const PlanActor& one = plan.actors[actor];
    if (one.kind != ActorKind::kClassifier || one.group != plan.groups[group].stand_in) continue;
    sum.batches += counter_of(status, actor, Counter::kStandInBatches);
    ticks += counter_of(status, actor, Counter::kStandInTime);
  }
  sum.ns = TscScale(status.header().tsc_hz).to_ns(ticks);
  return sum;
}

/// Batches of the group's stages. `by_device`: as its devices have answered them, from worker to
/// answer; else all that have left the stages, computed by a device or in its place.
Sum through(const Plan& plan, const StatusView& status, std::uint32_t group, bool by_device) {
  Sum sum;
  for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
    if (plan.stages[stage].group != group) continue;
    for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
      const bool is_device = plan.actors[actor].kind == ActorKind::kGpu;
      if (is_device == by_device) add(status.stage_latency(actor, stage), sum);
    }
  }
  return sum;
}

std::uint64_t shortages(const Plan& plan, const StatusView& status) {
  std::uint64_t count = 0;
  for (const PlanStream& stream : plan.streams) {
    count += counter_of(status, stream.ingress, Counter::kSlotsExhausted);
  }
  return count;
}

}  // namespace

void Balancing::look(Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + kLookEach;
  if (!groups_) find_groups();
  for (Group& group : *groups_) {
    note_gpu(group, gpu_of(group.number));
    set_offload(offload_of(plan_, *view_, group.number), group.balance.look(read(group, now)));
  }
}

void Balancing::find_groups() {
  std::vector<Group> found;
  for (std::uint32_t i = 0; i < plan_.groups.size(); ++i) {
    if (!is_balanced(plan_.groups[i])) continue;
    if (!view_) {
      mapping_ = Mapping::attach_status(status_file_name(plan_.name), true);
      view_ = StatusView::attach(mapping_.base(), mapping_.bytes(), plan_);
    }
    const std::atomic<std::uint32_t>& word = offload_of(plan_, *view_, i);
    const bool said = word.load(std::memory_order_relaxed) != 0;
    found.push_back({i, Balance(said ? measured_offload(word) : Balance::kStart), Why::kNone});
  }
  groups_ = std::move(found);
}

std::vector<NamedCount> Balancing::shares() const {
  std::vector<NamedCount> shares;
  if (!groups_) return shares;
  for (const Group& group : *groups_) {
    shares.push_back({plan_.groups[group.number].name,
                      measured_offload(offload_of(plan_, *view_, group.number))});
  }
  return shares;
}

/// How long a batch of the GPU was in the stage, waits included, no process counts apart: it is the
/// time of all of them without that of those beside it.
Balance::Look Balancing::read(const Group& group, Clock::time_point now) const {
  const Sum cpu = beside(plan_, *view_, group.number);
  const Sum all = through(plan_, *view_, group.number, false);
  Balance::Look look;
  look.cpu = {.usable = has_worker(plan_.groups[group.number].stand_in),
              .batches = cpu.batches,
              .ns = static_cast<std::int64_t>(cpu.ns)};
  look.gpu = {.usable = group.gpu == Why::kNone,
              .batches = through(plan_, *view_, group.number, true).batches,
              .ns = static_cast<std::int64_t>(all.ns - cpu.ns)};
  look.shortages = shortages(plan_, *view_);
  look.time_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(now.time_since_epoch()).count());
  return look;
}

Balancing::Why Balancing::gpu_of(std::uint32_t group) const {
  const bool asked = setting_of(plan_.groups[group].settings, "device", "auto") == "software";
  Why why = Why::kAbsent;
  for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
    if (plan_.actors[actor].kind != ActorKind::kGpu || plan_.actors[actor].group != group) continue;
    const auto state = view_->actor(actor).state.load(std::memory_order_acquire);
    if (state != static_cast<std::uint32_t>(ActorState::kAlive)) continue;
    const auto backend = view_->actor_tally(actor).backend.load(std::memory_order_relaxed);
    if (asked || backend != static_cast<std::uint64_t>(Backend::kSoftware)) return Why::kNone;
    why = Why::kSoftware;
  }
  return why;
}

bool Balancing::has_worker(std::uint32_t group) const {
  for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
    const PlanActor& one = plan_.actors[actor];
    if (one.kind != ActorKind::kClassifier || one.group != group) continue;
    const auto state = view_->actor(actor).state.load(std::memory_order_acquire);
    if (state == static_cast<std::uint32_t>(ActorState::kAlive)) return true;
  }
  return false;
}

void Balancing::note_gpu(Group& group, Why now) const {
  if (std::exchange(group.gpu, now) == now) return;
  const std::string& name = plan_.groups[group.number].name;
  const std::string& stand_in = plan_.groups[plan_.groups[group.number].stand_in].name;
  Event event{.kind = "offload", .text = {}};
  switch (now) {
    case Why::kNone:
      event.text = "group " + name + " gets a share of the batches again";
      break;
    case Why::kAbsent:
      event.text = "group " + name +
                   " gets no batch, as none of its workers is alive: " + stand_in + " does all";
      break;
    case Why::kSoftware:
      event.severity = Severity::kWarning;
      event.text =
          "group " + name + " gets no batch, as it found no GPU and would compute on the " +
          "CPU: " + stand_in + " does all; to share with it all the same: 'device: software'";
      break;
  }
  note_(std::move(event));
}

}  // namespace millrace
