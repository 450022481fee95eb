// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/outbox.hpp"

#include <algorithm>
#include <utility>

#include "shared/layout/actor_states.hpp"

namespace millrace {
namespace {
constexpr std::uint32_t kNoTarget = UINT32_MAX;
// To read a worker's load waits for a cache line that the worker has just written. At most so many
// are read, together; for the rest of a larger group the last known loads are upper bounds.
constexpr std::uint32_t kLooksMax = 4;
}  // namespace

Outbox::Outbox(const ActorContext& context)
    : context_(context),
      wakes_(*context.plan),
      skipping_(context),
      split_(context),
      owns_slots_(context.plan->actors[context.me.actor].kind != ActorKind::kGpu),
      group_targets_(context.plan->groups.size()),
      egress_target_(context.plan->actors.size(), kNoTarget),
      next_worker_(context.plan->groups.size(), 0),
      next_look_(context.plan->groups.size(), 0),
      lane_target_(context.plan->groups.size(),
                   std::vector<std::uint32_t>(context.segment.layout().lane_count, kNoTarget)),
      ingress_(context.plan->actors[context.me.actor].kind == ActorKind::kIngress),
      offered_(context.segment.layout().lane_count),
      pending_(context.segment.slot_count() + 1) {
  const Plan& plan = *context_.plan;
  for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
    if (plan.links[i].producer != context_.me.actor) continue;
    const PlanActor& consumer = plan.actors[plan.links[i].consumer];
    const auto number = static_cast<std::uint32_t>(targets_.size());
    const bool gpu = consumer.kind == ActorKind::kGpu;
    targets_.push_back(
        {plan.links[i].consumer, i, consumer.index, gpu, false, {}, context_.segment.link(i)});
    if (consumer.kind == ActorKind::kEgress) {
      egress_target_[plan.links[i].consumer] = number;
    } else {
      group_targets_[consumer.group].push_back(number);
    }
  }
}

void Outbox::read_roster() noexcept {
  const Plan& plan = *context_.plan;
  skipping_.read_roster();
  if (ingress_) read_held_lane();
  for (Target& target : targets_) {
    const ActorState state = context_.state_of(target.actor);
    target.open = rule_of(state).may_be_chosen;
    const auto incarnation = static_cast<std::uint16_t>(
        context_.entry(target.actor).incarnation.load(std::memory_order_relaxed));
    target.life = {static_cast<std::uint16_t>(target.actor), incarnation};
    const bool worker = plan.actors[target.actor].kind == ActorKind::kClassifier;
    if (state == ActorState::kReclaiming && worker) take_back(target);
    target.load = target.ring.size();
  }
  for (std::uint32_t group = 0; group < plan.groups.size(); ++group) {
    for (std::uint32_t lane = 0; lane < lane_target_[group].size(); ++lane) {
      const std::uint16_t worker =
          context_.status.lane_map(group).worker[lane].load(std::memory_order_relaxed);
      MILLRACE_CHECK(worker == kNoWorker || worker < plan.groups[group].max);
      const auto takes = [&](std::uint32_t number) {
        return targets_[number].index == worker && targets_[number].open;
      };
      const std::vector<std::uint32_t>& numbers = group_targets_[group];
      const auto found = std::find_if(numbers.begin(), numbers.end(), takes);
      lane_target_[group][lane] = found == numbers.end() ? kNoTarget : *found;
    }
  }
}

void Outbox::read_held_lane() noexcept {
  const std::uint64_t held = context_.status.header().held_lane.load(std::memory_order_acquire);
  if (held == std::exchange(held_lane_, held) || held == 0 || held > offered_.size()) return;
  const auto lane = static_cast<std::uint32_t>(held - 1);
  context_.status.ingress_lane(context_.plan->actors[context_.me.actor].index, lane)
      .offered.store(offered_[lane], std::memory_order_release);
}

void Outbox::take_back(Target& target) noexcept {
  std::uint64_t word = 0;
  const auto stamp = [&](std::uint64_t taken) {
    const std::uint32_t slot = Descriptor::from_word(taken).slot;
    MILLRACE_CHECK(slot < context_.segment.slot_count());
    if (!owns_slots_) return;
    context_.segment.slot(slot).owner.store(context_.me.word(), std::memory_order_release);
  };
  while (target.ring.take({&word, 1}, stamp) == 1) {
    const SlotHeader& header = context_.segment.slot(Descriptor::from_word(word).slot);
    wait_here({word, header.stream, header.lane});
    ++context_.counter(Counter::kBatchesTakenBack);
  }
}

Outbox::Target* Outbox::choose_worker(std::uint32_t group, std::uint32_t lane) noexcept {
  if (context_.plan->groups[group].dispatch == Dispatch::kFlow) {
    const std::uint32_t number = lane_target_[group][lane];
    return number == kNoTarget ? nullptr : &targets_[number];
  }
  const std::vector<std::uint32_t>& numbers = group_targets_[group];
  if (numbers.size() == 1) return targets_[numbers[0]].open ? &targets_[numbers[0]] : nullptr;
  return least_loaded(group);
}

Outbox::Target* Outbox::least_loaded(std::uint32_t group) noexcept {
  const std::vector<std::uint32_t>& numbers = group_targets_[group];
  const auto count = static_cast<std::uint32_t>(numbers.size());
  std::uint32_t& look = next_look_[group];
  for (std::uint32_t i = 0; i < std::min(count, kLooksMax); ++i) {
    Target& target = targets_[numbers[look]];
    if (++look == count) look = 0;
    target.load = target.ring.size();
  }
  Target* best = nullptr;
  std::uint32_t at = next_worker_[group];
  for (std::uint32_t i = 0; i < count; ++i, ++at) {
    if (at >= count) at = 0;
    Target& target = targets_[numbers[at]];
    if (!target.open || (best != nullptr && target.load >= best->load)) continue;
    best = &target;
    next_worker_[group] = at + 1;
    if (target.load == 0) break;
  }
  return best;
}

Outbox::Target* Outbox::choose(std::uint8_t stage, std::uint32_t stream,
                               std::uint32_t lane) noexcept {
  const Plan& plan = *context_.plan;
  if (stage == kEgressStage) {
    const std::uint32_t number = egress_target_[plan.streams[stream].egress];
    MILLRACE_CHECK(number != kNoTarget);
    return targets_[number].open ? &targets_[number] : nullptr;
  }
  MILLRACE_CHECK(stage < plan.stages.size());
  const std::uint32_t number = plan.stages[stage].group;
  const PlanGroup& group = plan.groups[number];
  if (group.kind != GroupKind::kGpu) return choose_worker(number, lane);
  const bool gpu_first = !split_.applies(number) || split_.gpu_is_next(number);
  Target* target = choose_worker(gpu_first ? number : group.stand_in, lane);
  return target != nullptr ? target : choose_worker(gpu_first ? group.stand_in : number, lane);
}

bool Outbox::offer(const Waiting& batch) noexcept {
  const Descriptor descriptor = Descriptor::from_word(batch.descriptor);
  const std::uint8_t stage =
      owns_slots_ ? descriptor.stage : context_.plan->stages[descriptor.stage].next;
  const std::uint64_t sequence = ingress_ ? context_.segment.slot(descriptor.slot).sequence : 0;
  const bool goes_on = sequence <= (ingress_ ? offered_[batch.lane] : 0);
  if (!goes_on && held_lane_ == batch.lane + 1u) [[unlikely]]
    return false;
  Target* target = choose(stage, batch.stream, batch.lane);
  if (target == nullptr) return false;
  if (!goes_on) offered_[batch.lane] = sequence;
  if (target->gpu) {
    hook(HookPoint::kGpuHolder);
    const std::uint64_t holder = holder_word(target->life, descriptor.generation);
    context_.segment.slot(descriptor.slot).gpu_holder.store(holder, std::memory_order_release);
    const std::uint32_t group = context_.plan->stages[stage].group;
    if (split_.applies(group)) split_.at_gpu(group, descriptor.slot, holder);
  }
  if (owns_slots_ && context_.watched()) [[unlikely]] {
    const Batch leaving = context_.segment.batch(descriptor.slot);
    context_.watch->link(context_.me.actor, target->link, leaving);
    context_.watch->step(context_.me.actor, descriptor.slot, leaving,
                         {.kind = TraceKind::kSent, .number = target->link});
  }
  MILLRACE_CHECK(target->ring.push({&batch.descriptor, 1}));  // as deep as its slots
  ++target->load;
  wakes_.add(target->actor);
  return true;
}

void Outbox::wait_here(const Waiting& batch) noexcept {
  MILLRACE_CHECK(pending_count_ < pending_.size());
  std::uint32_t at = pending_first_ + pending_count_++;
  if (at >= pending_.size()) at -= static_cast<std::uint32_t>(pending_.size());
  pending_[at] = batch;
}

void Outbox::send(std::uint32_t slot, std::uint8_t stage) noexcept {
  if (skipping_.possible()) stage = skipping_.enter(slot, stage);
  const SlotHeader& header = context_.segment.slot(slot);
  const Descriptor descriptor{static_cast<std::uint16_t>(slot), stage, header.generation};
  const Waiting batch{descriptor.word(), header.stream, header.lane};
  if (pending_count_ != 0 || !offer(batch)) wait_here(batch);
}

void Outbox::announce(Descriptor descriptor, std::uint32_t stream, std::uint32_t lane) noexcept {
  const Waiting batch{descriptor.word(), static_cast<std::uint16_t>(stream),
                      static_cast<std::uint16_t>(lane)};
  if (!offer(batch)) wait_here(batch);
}

std::uint32_t Outbox::flush() noexcept {
  // One pass over all: a batch whose lane has no worker does not hold up the others behind it.
  std::uint32_t sent = 0;
  for (std::uint32_t left = pending_count_; left > 0; --left) {
    Waiting batch = pending_[pending_first_];
    if (++pending_first_ == pending_.size()) pending_first_ = 0;
    --pending_count_;
    if (owns_slots_ && skipping_.possible()) {
      Descriptor descriptor = Descriptor::from_word(batch.descriptor);
      descriptor.stage = skipping_.enter_again(descriptor.slot, descriptor.stage);
      batch.descriptor = descriptor.word();
    }
    if (offer(batch)) {
      ++sent;
    } else {
      wait_here(batch);
    }
  }
  return sent;
}

}  // namespace millrace
