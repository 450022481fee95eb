// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/race/race_world.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planner.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/process.hpp"
#include "shared/links/loop_balance.hpp"

namespace millrace::race {
namespace {

// Both ways to a GPU and from it: from a classifier to a stateful stage, and from an ingress to the
// egress. What goes the second way comes in once more, by a loop.
constexpr const char* kTopology = R"(
millrace: 1
name: race
batch: { capacity: 8 }
ports:
  a: { device: "null" }
  b: { device: "null" }
  again: { device: loop }
workers:
  front: { kind: classifier, count: 3, max: 3, dispatch: any }
  deep: { kind: classifier, count: 2, max: 2, dispatch: flow }
  gpu: { kind: gpu, device: software, delay_us: 200, reorder: true, late: 50 }
functions:
  first: { type: pass, on: front }
  second: { type: pass, on: gpu }
  third: { type: state, on: deep }
  fourth: { type: pass, on: gpu }
paths:
  long: { from: [a], to: b, run: [first, second, third], lanes: 4 }
  short: { from: [b], to: again, run: [fourth], lanes: 2 }
  round: { from: [again], to: a, lanes: 2 }
)";

Plan make_race_plan() {
  static constexpr KnownFunction kFunctions[] = {
      {.type = "pass", .runs_on_gpu = true},
      {.type = "state",
       .stateful = true,
       .lane_needs =
           [](const LaneRequest&) {
             return LaneNeeds{kStateLines * 64, 2 * kStateLines};
           },
       .runs_on_gpu = false}};
  Plan plan =
      make_plan(parse_topology(kTopology, "race.yaml", kFunctions), kFunctions, Host{{0, 1}});
  plan.shared_cores = true;
  for (PlanActor& actor : plan.actors) actor.core = -1;
  return plan;
}

}  // namespace

World::World(std::uint64_t seed) : seed_(seed), plan_(make_race_plan()) {
  segment_ = Mapping::create_anonymous(segment_layout(plan_).bytes);
  status_ = Mapping::create_anonymous(status_layout(plan_).bytes);
  arena_memory_ = Mapping::create_anonymous(sizeof(Arena));
  arena_ = reinterpret_cast<Arena*>(arena_memory_.base());
  segment_view_ = SegmentView::create(segment_.base(), plan_);
  static const std::uint64_t tsc_hz = measure_tsc_hz();
  status_view_ = StatusView::create(status_.base(), plan_, tsc_hz);
  pids_.resize(plan_.actors.size(), 0);
  arena_->traffic = true;
  for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
    if (plan_.actors[actor].at_start) start(actor);
  }
}

World::~World() {
  for (const std::int32_t pid : pids_) {
    if (pid > 0) kill(pid, SIGKILL);
  }
  for (const std::int32_t pid : pids_) {
    if (pid > 0) waitpid(pid, nullptr, 0);
  }
}

ActorContext World::context(std::uint32_t actor) const {
  ActorContext context;
  context.plan = &plan_;
  context.segment = segment_view_;
  context.status = status_view_;
  context.me.actor = static_cast<std::uint16_t>(actor);
  return context;
}

void World::start(std::uint32_t actor) {
  std::fflush(nullptr);
  const std::int32_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run_actor(context(actor), *arena_, seed_ * 1000 + actor);
  }
  pids_[actor] = pid;
}

void World::supervise() {
  for (std::uint32_t actor = 0; actor < pids_.size(); ++actor) {
    if (pids_[actor] > 0 && waitpid(pids_[actor], nullptr, WNOHANG) == pids_[actor]) {
      pids_[actor] = -1;
    }
  }
  for (std::uint32_t actor = 0; actor < pids_.size(); ++actor) {
    const PlanActor& plan = plan_.actors[actor];
    if (pids_[actor] != -1 || plan.kind == ActorKind::kHub || plan.kind == ActorKind::kStandby) {
      continue;
    }
    // A GPU's next life is its twin, which need not wait for the exit of the last.
    const std::uint32_t next = plan.kind == ActorKind::kGpu ? plan.twin : actor;
    const auto state = static_cast<ActorState>(status_view_.actor(next).state.load());
    if (state != ActorState::kVacant || pids_[next] > 0) continue;
    pids_[actor] = 0;
    start(next);
  }
}

bool World::quiet() const {
  for (std::uint32_t s = 0; s < plan_.streams.size(); ++s) {
    const ActorEntry& entry = status_view_.actor(plan_.streams[s].ingress);
    if (static_cast<ActorState>(entry.state.load()) != ActorState::kAlive) return false;
    if (entry.exhausted.load() == 0) return false;
    for (const std::uint32_t lane : lanes_of(plan_, plan_.streams[s])) {
      if (status_view_.ingress_lane(s, lane).sealed_sequence.load() !=
          status_view_.ledger(s, lane).released.load()) {
        return false;
      }
    }
  }
  return packets_in_loops(plan_, status_view_) == 0;
}

}  // namespace millrace::race
