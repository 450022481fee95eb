// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "gpu-worker/gpu_actor.hpp"

#include <algorithm>
#include <array>

#include "shared/base/clock.hpp"
#include "shared/layout/latency.hpp"

namespace millrace {

GpuActor::GpuActor(const ActorContext& context, Device& device, NewTables* tables)
    : context_(context),
      device_(device),
      tables_(tables),
      gpu_number_(gpu_number(*context.plan, context.me.actor)),
      outbox_(context),
      submitted_tsc_(context.segment.slot_count(), 0),
      scale_(context.status.header().tsc_hz) {
  for (std::uint32_t i = 0; i < context_.plan->links.size(); ++i) {
    if (context_.plan->links[i].consumer == context_.me.actor) {
      links_.push_back({i, context_.segment.link(i), PeakMark(context_.status.link(i).high)});
    }
  }
  for (std::uint32_t stage = 0; stage < context_.plan->stages.size(); ++stage) {
    edition_.push_back(stage_edition(*context_.plan, stage));
  }
}

bool GpuActor::computes(std::uint8_t stage) const noexcept {
  const Plan& plan = *context_.plan;
  return stage < plan.stages.size() &&
         plan.stages[stage].group == plan.actors[context_.me.actor].group;
}

bool GpuActor::take(DeviceBatch& out) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[next_link_];
    if (++next_link_ == links_.size()) next_link_ = 0;
    while (link.ring.take({&word, 1}, [](std::uint64_t) {}) == 1) {
      link.high.note(context_.my_entry().heartbeat_tsc.load(std::memory_order_relaxed),
                     link.ring.seen() + 1);
      const Descriptor descriptor = Descriptor::from_word(word);
      const SegmentLayout& layout = context_.segment.layout();
      if (descriptor.slot >= layout.slot_count || !computes(descriptor.stage)) continue;
      const SlotHeader& header = context_.segment.slot(descriptor.slot);
      // Recovery may have moved the slot on: all values read are bounded, and the acceptor decides.
      const auto stream = std::min<std::uint32_t>(header.stream, layout.stream_count - 1);
      const auto lane = std::min<std::uint32_t>(header.lane, layout.lane_count - 1);
      out = {descriptor, static_cast<std::uint16_t>(stream), static_cast<std::uint16_t>(lane), 0};
      return true;
    }
  }
  return false;
}

std::uint32_t GpuActor::feed() noexcept {
  std::uint32_t fed = 0;
  while (fed < kBatchesPerRound) {
    if (!has_refused_ && !take(refused_)) break;
    refused_.edition = edition_[refused_.descriptor.stage];
    has_refused_ = !device_.submit(refused_);
    if (has_refused_) break;
    submitted_tsc_[refused_.descriptor.slot] = tsc_now();
    ++fed;
  }
  return fed;
}

std::uint32_t GpuActor::publish() noexcept {
  std::array<DeviceBatch, kBatchesPerRound> done;
  const std::uint32_t count = device_.poll(done);
  const std::uint64_t now = count == 0 ? 0 : tsc_now();
  for (std::uint32_t i = 0; i < count; ++i) {
    note_duration(context_.status.stage_latency(context_.me.actor, done[i].descriptor.stage),
                  scale_.to_ns(now - submitted_tsc_[done[i].descriptor.slot]));
    if (context_.watched()) [[unlikely]] {
      const Descriptor& batch = done[i].descriptor;
      context_.watch->device_step(context_.me.actor, batch.slot, batch.generation, done[i].stream,
                                  done[i].lane, submitted_tsc_[batch.slot]);
    }
    context_.segment.gpu_edition(gpu_number_, done[i].descriptor.slot) = done[i].edition;
    outbox_.announce(done[i].descriptor, done[i].stream, done[i].lane);
  }
  context_.counter(Counter::kBatches) += count;
  return count;
}

std::uint32_t GpuActor::do_work() noexcept {
  outbox_.wake_consumers();
  std::uint32_t done = outbox_.pending() != 0 ? outbox_.flush() : 0;
  done += feed();
  done += publish();
  // A worker with batches at a device polls it.
  return done + (device_.in_flight() != 0 ? 1 : 0);
}

bool GpuActor::has_work() noexcept {
  if (has_refused_ || device_.in_flight() != 0) return true;
  return std::any_of(links_.begin(), links_.end(),
                     [](const Link& link) { return !link.ring.empty(); });
}

void GpuActor::take_tables() noexcept {
  const Plan* const plan = tables_ == nullptr ? nullptr : tables_->ready();
  if (plan == nullptr) return;
  device_.use_tables();  // before take(): from then on others may be loaded
  for (std::uint32_t stage = 0; stage < edition_.size(); ++stage) {
    edition_[stage] = stage_edition(*plan, stage);
  }
  tables_->take();
}

void GpuActor::take_stock(std::uint64_t) noexcept {
  take_tables();
  for (const Link& link : links_) {
    context_.status.link(link.number).depth.store(link.ring.size(), std::memory_order_relaxed);
  }
  context_.counter(Counter::kDeviceInFlight) = device_.in_flight();
}

bool GpuActor::finished() noexcept { return stopping_ && !has_work() && outbox_.pending() == 0; }

}  // namespace millrace
