// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/inbox.hpp"

#include <utility>

#include "shared/layout/actor_states.hpp"

namespace millrace {

Inbox::Inbox(const ActorContext& context) : context_(context) {
  const Plan& plan = *context_.plan;
  for (std::uint32_t i = 0; i < plan.links.size(); ++i) {
    if (plan.links[i].consumer != context_.me.actor) continue;
    const std::uint32_t producer = plan.links[i].producer;
    const bool gpu = plan.actors[producer].kind == ActorKind::kGpu;
    sources_.push_back({producer,
                        gpu,
                        !gpu,
                        gpu ? gpu_number(plan, producer) : 0,
                        {},
                        context_.segment.link(i),
                        i,
                        PeakMark(context_.status.link(i).high)});
  }
  for (Source& source : sources_) hot_.push_back(&source);
  cold_.reserve(hot_.size());
  all_hot_ = hot_.size() <= kAllHotMax;
}

void Inbox::read_roster() noexcept {
  found_ = nullptr;  // it may not be open any more
  for (Source& source : sources_) {
    const ActorState state = context_.state_of(source.actor);
    source.open = source.gpu ? state == ActorState::kAlive || state == ActorState::kDraining
                             : state != ActorState::kQuarantined;
    const auto incarnation = static_cast<std::uint16_t>(
        context_.entry(source.actor).incarnation.load(std::memory_order_relaxed));
    source.life = {static_cast<std::uint16_t>(source.actor), incarnation};
  }
}

bool Inbox::empty() const noexcept {
  for (const Source& source : sources_) {
    if (source.open && !source.ring.empty()) return false;
  }
  return true;
}

void Inbox::take_stock() noexcept {
  if (!metrics_kept()) return;
  for (const Source& source : sources_) {
    context_.status.link(source.link).depth.store(source.ring.size(), std::memory_order_relaxed);
  }
}

bool Inbox::accept(const Source& source, std::uint64_t word) noexcept {
  const Descriptor descriptor = Descriptor::from_word(word);
  if (descriptor.slot >= context_.segment.slot_count()) return false;
  SlotHeader& header = context_.segment.slot(descriptor.slot);
  if ((header.generation & kGenerationMask) != descriptor.generation) return false;
  std::uint64_t holder = holder_word(source.life, descriptor.generation);
  const std::uint64_t claim = holder_word(context_.me, descriptor.generation);
  hook(HookPoint::kAcceptClaim);
  if (!header.gpu_holder.compare_exchange_strong(holder, claim)) return false;
  hook(HookPoint::kTakeOwner);
  header.owner.store(context_.me.word(), std::memory_order_release);
  hook(HookPoint::kAcceptClear);
  header.gpu_holder.store(0, std::memory_order_release);
  return true;
}

bool Inbox::take_from(Source& source, Taken& out) noexcept {
  std::uint64_t word = 0;
  bool ours = true;
  const auto stamp = [&](std::uint64_t taken) {
    if (source.gpu) {
      ours = accept(source, taken);
    } else {
      const Descriptor descriptor = Descriptor::from_word(taken);
      MILLRACE_CHECK(descriptor.slot < context_.segment.slot_count());
      context_.segment.slot(descriptor.slot)
          .owner.store(context_.me.word(), std::memory_order_release);
    }
  };
  while (source.ring.take({&word, 1}, stamp) == 1) {
    source.high.note(context_.my_entry().heartbeat_tsc.load(std::memory_order_relaxed),
                     source.ring.seen() + 1);
    if (!ours) {
      ++context_.counter(Counter::kCompletionsLate);
      continue;
    }
    const Descriptor descriptor = Descriptor::from_word(word);
    const SlotHeader& header = context_.segment.slot(descriptor.slot);
    MILLRACE_CHECK((header.generation & kGenerationMask) == descriptor.generation);
    MILLRACE_CHECK(header.count <= context_.segment.capacity());
    if (context_.watched()) [[unlikely]] {
      const Batch come = context_.segment.batch(descriptor.slot);
      if (source.gpu) context_.watch->link(context_.me.actor, source.link, come);
      context_.watch->step(context_.me.actor, descriptor.slot, come,
                           {.kind = TraceKind::kTaken, .number = source.link});
    }
    out = {descriptor.slot, descriptor.stage, source.gpu, source.gpu_number};
    return true;
  }
  return false;
}

/// The first hot source, from the next one on, that is not empty. It becomes the next one, so that
/// a take after a peek finds it at once. `word`: the first word in it.
Inbox::Source* Inbox::find_hot(std::uint64_t& word) noexcept {
  for (std::size_t left = hot_.size(); left != 0; --left) {
    if (next_ >= hot_.size()) next_ = 0;
    Source* const source = hot_[next_];
    if (source->open && source->ring.peek(word)) {
      source->found_empty = 0;
      return source;
    }
    if (++source->found_empty < kFoundEmptyMax || all_hot_) {
      ++next_;
      continue;
    }
    cold_.push_back(source);
    hot_.erase(hot_.begin() + static_cast<std::ptrdiff_t>(next_));
  }
  return nullptr;
}

bool Inbox::peek(std::uint32_t& slot) noexcept {
  std::uint64_t word = 0;
  found_ = find_hot(word);
  if (found_ == nullptr || found_->gpu) return false;
  slot = Descriptor::from_word(word).slot;
  MILLRACE_CHECK(slot < context_.segment.slot_count());
  return true;
}

bool Inbox::take_hot(Taken& out) noexcept {
  std::uint64_t word = 0;
  Source* source = found_ != nullptr ? std::exchange(found_, nullptr) : find_hot(word);
  for (; source != nullptr; source = find_hot(word)) {
    const bool taken = take_from(*source, out);  // false: it had only completions that do not count
    ++next_;
    if (taken) return true;
  }
  return false;
}

bool Inbox::take_cold(Taken& out, std::size_t looks) noexcept {
  for (; looks != 0; --looks) {
    if (next_cold_ >= cold_.size()) next_cold_ = 0;
    Source& source = *cold_[next_cold_];
    if (!source.open || source.ring.empty() || !take_from(source, out)) {
      ++next_cold_;
      continue;
    }
    source.found_empty = 0;
    hot_.push_back(&source);
    cold_[next_cold_] = cold_.back();
    cold_.pop_back();
    return true;
  }
  return false;
}

bool Inbox::take(Taken& out) noexcept {
  if (cold_.empty()) return take_hot(out);
  if (--takes_to_cold_ == 0) {
    takes_to_cold_ = kTakesToCold;
    if (take_cold(out, 1)) return true;
  }
  return take_hot(out) || take_cold(out, cold_.size());
}

}  // namespace millrace
