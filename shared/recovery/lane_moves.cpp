// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/recovery/lane_moves.hpp"

#include <algorithm>
#include <utility>

#include "shared/recovery/laws.hpp"

// A lane of a group with state has one writer. It moves from one living worker to another in three
// steps, each of which all acknowledge: it is held back at every ingress until nothing of it
// is under way; it is given to the other worker; it goes on. One lane at a time: all others flow.
// What the shared memory says (held lanes, lane maps) is enough for a successor to end a move.

namespace millrace {
namespace {

constexpr std::uint64_t kHoldLimitNs = 2'000'000'000;  // then the move is given up
constexpr std::uint64_t kPauseNs = 1'000'000'000;      // and tried again so much later

/// True when the ingress seals no more batches, even if its recovery waits for another actor.
bool has_gone(ActorState ingress) {
  return ingress == ActorState::kVacant || ingress == ActorState::kReclaiming ||
         ingress == ActorState::kQuarantined;
}

bool is_classifier(const Plan& plan, std::uint32_t actor) {
  return plan.actors[actor].kind == ActorKind::kClassifier;
}

/// Lanes of paths that visit the group.
std::vector<std::uint32_t> lanes_through(const Plan& plan, std::uint32_t group) {
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t number = 0; number < plan.paths.size(); ++number) {
    const PlanPath& path = plan.paths[number];
    const bool visits = std::ranges::any_of(plan.stages, [&](const PlanStage& stage) {
      return stage.path == number && stage.group == group;
    });
    for (std::uint32_t i = 0; visits && i < path.lane_count; ++i) {
      lanes.push_back(path.lane_first + i);
    }
  }
  return lanes;
}

}  // namespace

LaneMoves::LaneMoves(const ActorContext& context, Means means)
    : context_(context), means_(std::move(means)), leaving_(context.plan->actors.size(), false) {}

void LaneMoves::leave(std::uint32_t worker) {
  MILLRACE_CHECK(worker < leaving_.size());
  leaving_[worker] = true;
}

/// The first lane whose worker leaves, or has two lanes more than another one.
std::optional<LaneMoves::Move> LaneMoves::next_move(std::uint32_t group) const {
  const Plan& plan = *context_.plan;
  constexpr std::uint32_t kShut = UINT32_MAX;
  std::vector<std::uint32_t> load(plan.groups[group].max, kShut);  // by worker that stays
  std::vector<bool> open(plan.groups[group].max, false);
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const PlanActor& worker = plan.actors[actor];
    if (worker.group != group || !is_classifier(plan, actor)) continue;
    MILLRACE_CHECK(worker.index < open.size());
    open[worker.index] = rule_of(context_.state_of(actor)).may_be_chosen;
    if (open[worker.index] && !leaving_[actor]) load[worker.index] = 0;
  }
  const std::vector<std::uint32_t> lanes = lanes_through(plan, group);
  const LaneMap& map = context_.status.lane_map(group);
  const auto worker_of = [&](std::uint32_t lane) {
    return map.worker[lane].load(std::memory_order_relaxed);
  };
  for (const std::uint32_t lane : lanes) {
    const std::uint16_t worker = worker_of(lane);
    if (worker < load.size() && load[worker] != kShut) ++load[worker];
  }
  const auto least = std::ranges::min_element(load);
  if (least == load.end() || *least == kShut) return std::nullopt;  // none stays
  for (const std::uint32_t lane : lanes) {
    const std::uint16_t worker = worker_of(lane);
    if (worker >= load.size() || !open[worker]) continue;  // recovery gives it to another one
    if (load[worker] != kShut && load[worker] < *least + 2) continue;
    Move move;
    move.group = group;
    move.lane = lane;
    move.from = worker;
    move.to = static_cast<std::uint16_t>(least - load.begin());
    MILLRACE_CHECK(move.to != move.from);  // else a lane would have two writers by one number
    return move;
  }
  return std::nullopt;
}

bool LaneMoves::acknowledged(std::uint64_t epoch, bool ingresses_only) const {
  const Plan& plan = *context_.plan;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    const ActorKind kind = plan.actors[actor].kind;
    const bool ingress = kind == ActorKind::kIngress;
    if (kind == ActorKind::kHub || kind == ActorKind::kStandby) continue;
    if (ingresses_only && !ingress) continue;
    const ActorState state = context_.state_of(actor);
    const ActorEntry& entry = context_.entry(actor);
    // What one that has gone had sealed is under way (has_left()); should it come back, it reads
    // which lanes are held before it polls.
    if (ingress && has_gone(state)) continue;
    if (!ingress && state != ActorState::kAlive && state != ActorState::kDraining) continue;
    if (entry.acked_epoch.load(std::memory_order_acquire) < epoch) return false;
  }
  return true;
}

bool LaneMoves::has_left(std::uint32_t lane) const {
  const Plan& plan = *context_.plan;
  for (std::uint32_t stream = 0; stream < plan.streams.size(); ++stream) {
    const IngressLane& ingress = context_.status.ingress_lane(stream, lane);
    const bool gone = has_gone(context_.state_of(plan.streams[stream].ingress));
    const std::uint64_t offered = gone ? ingress.sealed_sequence.load() : ingress.offered.load();
    if (context_.status.ledger(stream, lane).released.load(std::memory_order_acquire) < offered) {
      return false;
    }
  }
  return true;
}

void LaneMoves::let_lanes_go() {
  context_.status.header().held_lane.store(0, std::memory_order_release);
  means_.bump_epoch();
  move_.reset();
}

bool LaneMoves::is_open(std::uint32_t group, std::uint16_t worker) const {
  const Plan& plan = *context_.plan;
  for (std::uint32_t actor = 0; actor < plan.actors.size(); ++actor) {
    if (!is_classifier(plan, actor) || plan.actors[actor].group != group) continue;
    if (plan.actors[actor].index == worker) {
      return rule_of(context_.state_of(actor)).may_be_chosen;
    }
  }
  return false;
}

bool LaneMoves::step_move(std::uint64_t now_ns) {
  MILLRACE_CHECK(move_.has_value());
  Move& move = *move_;
  LaneMap& map = context_.status.lane_map(move.group);
  const bool still_his = map.worker[move.lane].load(std::memory_order_relaxed) == move.from &&
                         is_open(move.group, move.to);
  switch (move.step) {
    case Move::Step::kHold:
      if (!still_his || now_ns - move.since_ns > kHoldLimitNs) {
        no_move_until_ns_ = now_ns + kPauseNs;
        let_lanes_go();
        return true;
      }
      if (!acknowledged(move.epoch, true) || !has_left(move.lane)) return false;
      map.worker[move.lane].store(move.to, std::memory_order_relaxed);
      move.step = Move::Step::kHand;
      means_.bump_epoch();
      move.epoch = context_.status.header().epoch.load();
      return true;
    case Move::Step::kHand:
    case Move::Step::kLetGo:
      // From here on no producer may send the lane to the old worker.
      if (!acknowledged(move.epoch, false)) return false;
      let_lanes_go();
      return true;
  }
  return false;
}

/// Drains workers that were to leave and have no lane any more.
bool LaneMoves::finish_leaving() {
  const Plan& plan = *context_.plan;
  bool any = false;
  for (std::uint32_t actor = 0; actor < leaving_.size(); ++actor) {
    if (!leaving_[actor]) continue;
    const std::uint32_t group = plan.actors[actor].group;
    const LaneMap& map = context_.status.lane_map(group);
    const bool alive = context_.state_of(actor) == ActorState::kAlive;
    const auto has = [&](std::uint32_t lane) {
      return map.worker[lane].load(std::memory_order_relaxed) == plan.actors[actor].index;
    };
    if (alive && std::ranges::any_of(lanes_through(plan, group), has)) continue;
    leaving_[actor] = false;
    if (!alive) continue;
    means_.drain(actor);
    any = true;
  }
  return any;
}

bool LaneMoves::tend(std::uint64_t now_ns) {
  StatusHeader& header = context_.status.header();
  MILLRACE_CHECK(header.held_lane.load() <= context_.segment.layout().lane_count);
  if (!move_ && header.held_lane.load() != 0) {
    // An earlier leader died in the move. Which actors have heard of it is unknown, so all must
    // acknowledge before the lane goes on.
    means_.bump_epoch();
    move_ = Move{.step = Move::Step::kLetGo, .epoch = header.epoch.load()};
  }
  if (move_) return step_move(now_ns);
  // Workers on one thread gain nothing from a move.
  if (context_.plan->fused) return false;
  bool moved = finish_leaving();
  if (now_ns < no_move_until_ns_) return moved;
  for (std::uint32_t group = 0; group < context_.plan->groups.size(); ++group) {
    if (context_.plan->groups[group].kind != GroupKind::kClassifier ||
        !has_state(*context_.plan, group))
      continue;
    move_ = next_move(group);
    if (!move_) continue;
    header.held_lane.store(std::uint64_t{move_->lane} + 1, std::memory_order_release);
    means_.bump_epoch();
    move_->epoch = header.epoch.load();
    move_->since_ns = now_ns;
    return true;
  }
  return moved;
}

}  // namespace millrace
