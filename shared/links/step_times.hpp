// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/sampler.hpp"
#include "shared/base/turn_clock.hpp"
#include "shared/layout/latency.hpp"

/// Measures, for observers, how long each step of a batch takes, from the end of the step before:
/// stages, and the steps of ports.
///
/// Every batch counts. A reading of the clock takes 10 to 25 ns: it is read for all batches if they
/// are few, else for some, about one each kTimedEachNs of a stream. The ingress draws them, each
/// with the same chance, so that neither a lane nor the first batch of a burst is preferred. The
/// others count with the time of the last timed batch before them. How many these are is random
/// too, so means and quantiles are those of all. One object for each actor; one thread.

namespace millrace {

class StepTimes {
 public:
  /// Of SlotHeader::time_stage_tsc: this batch's steps are not timed.
  static constexpr std::uint64_t kNotTimed = 0;
  static constexpr std::uint64_t kTimedEachNs = 8'000;
  static constexpr std::uint64_t kOneOfMost = 16;

  explicit StepTimes(const ActorContext& context)
      : scale_(context.status.header().tsc_hz),
        sampler_(context.me.word()),
        stage_count_(context.plan->stages.size()) {
    for (std::uint32_t stage = 0; stage < stage_count_; ++stage) {
      steps_.push_back({&context.status.stage_latency(context.me.actor, stage)});
    }
    for (std::uint32_t path = 0; path < context.plan->paths.size(); ++path) {
      steps_.push_back({&context.status.port_latency(context.me.actor, path)});
    }
  }

  /// The ingress seals a batch of the path, of which the time of arrival is known.
  void note_seal(SlotHeader& header, std::uint32_t path) noexcept {
    ++sealed_;
    std::uint64_t from = kNotTimed;
    header.time_stage_tsc = kNotTimed;
    if (!metrics_kept()) return;
    if (sampler_.takes()) {
      from = header.time_first_tsc;
      header.time_stage_tsc = turn_clock::read();
    } else {
      turn_clock::go_on();
    }
    header.time_sealed_tsc = turn_clock::last();
    note(steps_[stage_count_ + path], from, turn_clock::last());
  }
  /// A stage of the batch has ended. Returns how long it took, in ticks; 0: this one is not timed.
  std::uint64_t note_stage(SlotHeader& header, std::uint32_t stage) noexcept {
    if (!metrics_kept()) return 0;
    turn_clock::go_on();
    if (is_stand_in(header)) return 0;  // a stand-in has made no step before
    const std::uint64_t from = header.time_stage_tsc;
    if (from != kNotTimed) header.time_stage_tsc = turn_clock::read();
    const std::uint64_t now = turn_clock::last();
    note(steps_[stage], from, now);
    return from != kNotTimed && now > from ? now - from : 0;
  }
  /// The egress has released a batch of the path, the last stage of which ended at `stage_tsc`.
  void note_release(std::uint32_t path, std::uint64_t stage_tsc, std::uint64_t now_tsc) noexcept {
    note(steps_[stage_count_ + path], stage_tsc, now_tsc);
  }
  /// Called by an ingress now and then: sets how many of its batches are timed from here on.
  void take_stock(std::uint64_t now_tsc) noexcept {
    const std::uint64_t timed =
        scale_.ns_between(std::exchange(stock_tsc_, now_tsc), now_tsc) / kTimedEachNs;
    const std::uint64_t one_of = std::exchange(sealed_, 0) / std::max<std::uint64_t>(timed, 1);
    sampler_.take_one_of(static_cast<std::uint32_t>(std::clamp(one_of, kAll, kOneOfMost)));
  }

 private:
  static constexpr std::uint64_t kAll = 1;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  /// What one actor sees of a step.
  struct Step {
    LatencyHistogram* histogram;
    std::uint64_t ns = kNone;   ///< of the last batch that was timed; kNone: none was yet
    std::uint64_t waiting = 0;  ///< batches before the first one, which will count like it
  };

  void note(Step& step, std::uint64_t from_tsc, std::uint64_t now_tsc) noexcept {
    if (from_tsc != kNotTimed) {
      step.ns = scale_.ns_between(from_tsc, now_tsc);
      if (step.waiting != 0) [[unlikely]]
        note_duration(*step.histogram, step.ns, std::exchange(step.waiting, 0));
    } else if (step.ns == kNone) [[unlikely]] {
      ++step.waiting;
      return;
    }
    note_duration(*step.histogram, step.ns);
  }

  TscScale scale_;
  Sampler sampler_;
  std::size_t stage_count_;
  std::vector<Step> steps_;      ///< by stage, then by path
  std::uint64_t stock_tsc_ = 0;  ///< when stock was taken last
  std::uint64_t sealed_ = 0;     ///< batches since
};

}  // namespace millrace
