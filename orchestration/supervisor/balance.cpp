// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kWhole = 100;  ///< percent
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNsPerSecond = 1e9;
constexpr std::uint64_t kAwaited = 8;  ///< batches, of which one at least should be back
constexpr double kWorseLooks = 2;
constexpr double kTimesMost = 1e6;  ///< so many times slower is as slow as can be
constexpr double kOther = 2;        ///< times that differ so much are others

}  // namespace

std::uint32_t Balance::look(const Look& now) {
  MILLRACE_CHECK(percent_ <= kWhole);
  if (!follow_usable(now)) {
    before_ = now;
    return given_ = percent_;
  }
  if (!gather(now)) return given_;
  if (std::exchange(settling_, false)) {
    forget_gathered();
    return given_;
  }
  const std::uint32_t given = given_;
  const std::uint64_t gpu_did = gpu_.batches, cpu_did = cpu_.batches;
  const bool gpu_known = judge(gpu_, given, cpu_did, kWhole - given);
  const bool cpu_known = judge(cpu_, kWhole - given, gpu_did, given);
  const bool at_an_end = percent_ == 0 || percent_ == kWhole;
  if (at_an_end && (percent_ == 0 ? gpu_known : cpu_known)) {
    probe_ = 0;
    probe_every_ = std::min(probe_every_ * 2, kProbeEveryMost);
  }
  if (gpu_did + cpu_did < kBatchesLeast) return shown();
  const double rate =
      static_cast<double>(since_batches_) * kNsPerSecond / static_cast<double>(since_ns_);
  const bool full = since_shortages_ != 0;
  since_ns_ = since_batches_ = since_shortages_ = 0;
  if (blocked_looks_ != 0 && --blocked_looks_ == 0) blocked_ = 0;
  if (!take_back(rate, full)) follow(lean());
  return shown();
}

void Balance::forget_gathered() {
  gpu_.forget();
  cpu_.forget();
  since_ns_ = since_batches_ = since_shortages_ = 0;
}

/// False: one side has everything, as the other one cannot be used. One that comes back begins with
/// one percent.
bool Balance::follow_usable(const Look& now) {
  const bool gpu = now.gpu.usable, cpu = now.cpu.usable;
  const bool gpu_came = !std::exchange(gpu_was_usable_, gpu) && gpu;
  const bool cpu_came = !std::exchange(cpu_was_usable_, cpu) && cpu;
  if (!gpu && !cpu) return false;
  if (!gpu || !cpu) {
    if (percent_ != (gpu ? kWhole : 0)) move_to(gpu ? kWhole : 0);
    return false;
  }
  if (gpu_came) gpu_ = {};
  if (cpu_came) cpu_ = {};
  if (gpu_came != cpu_came) move_to(gpu_came ? 1 : kWhole - 1);
  return true;
}

/// Adds what has been done since the last look. False: that cannot be said, as there was none, or
/// counters began anew.
bool Balance::gather(const Look& now) {
  const std::optional<Look> before = std::exchange(before_, now);
  if (!before || now.time_ns <= before->time_ns || now.shortages < before->shortages) return false;
  if (now.gpu.batches < before->gpu.batches || now.cpu.batches < before->cpu.batches) return false;
  const auto add = [](Gathered& side, const Side& a, const Side& b) {
    side.batches += b.batches - a.batches;
    side.ns += b.ns - a.ns;
    side.quiet_looks = b.batches == a.batches ? side.quiet_looks + 1 : 0;
    return b.batches - a.batches;
  };
  since_batches_ += add(gpu_, before->gpu, now.gpu);
  since_batches_ += add(cpu_, before->cpu, now.cpu);
  since_ns_ += now.time_ns - before->time_ns;
  since_shortages_ += now.shortages - before->shortages;
  return true;
}

/// True: it is known how long the side takes. One of which nothing came back for a second, while
/// the other one has done so much that it must have had several, stands still.
bool Balance::judge(Gathered& side, std::uint32_t share, std::uint64_t other_did,
                    std::uint32_t rest) {
  if (side.batches >= kBatchesLeast) {
    const auto ns = static_cast<double>(std::max<std::int64_t>(side.ns, 0));
    side.time_ns = ns / static_cast<double>(side.batches);
    side.forget();
    return true;
  }
  const std::uint64_t awaited = rest == 0 ? 0 : other_did * share / rest;
  const bool stands = side.quiet_looks >= kQuietLooks && awaited >= kAwaited;
  if (stands) side.time_ns = kNever;
  return stands;
}

/// By how much batches wait longer beside the GPU (above 0) or at it, as a logarithm.
double Balance::lean() const {
  if (!gpu_.time_ns || !cpu_.time_ns || *gpu_.time_ns == *cpu_.time_ns) return 0;
  const double at_most = std::log(kTimesMost);
  return std::clamp(std::log(std::max(*cpu_.time_ns, 1.0) / std::max(*gpu_.time_ns, 1.0)), -at_most,
                    at_most);
}

void Balance::Rate::add(double batches) {
  if (looks >= kLooksMost) {
    looks /= 2;
    sum /= 2;
    squares /= 2;
  }
  ++looks;
  sum += batches;
  squares += batches * batches;
}

double Balance::Rate::deviation() const {
  return std::sqrt(std::max(squares / looks - mean() * mean(), 0.0));
}

/// By more than chance makes it: a side that works in bursts does nothing in one look and much in
/// the next one. The larger of both deviations counts, as few looks may be alike by chance.
bool Balance::Rate::is_above(const Rate& other) const {
  const double freedom = looks + other.looks - 2;
  if (freedom <= 0) return false;
  const double errors = 2 + 10 / (freedom * freedom);  // about Student's t for 0.975
  const double error =
      std::max(deviation(), other.deviation()) * std::sqrt(1 / looks + 1 / other.looks);
  return other.mean() < mean() * kWorse && mean() - other.mean() > errors * error;
}

/// Under full load what is done altogether says whether the last moves were good: true, and back,
/// when it is less than the most that was done since the load became full. Also true, and nothing
/// moves, while that has been seen once.
bool Balance::take_back(double rate, bool full) {
  if (!full) {
    best_.reset();
    return false;
  }
  if (!best_) best_ = {.percent = percent_};
  if (percent_ == best_->percent) {
    best_->add(rate);
    if (blocked_ != 0 && !best_->is_above(harm_)) blocked_ = 0;
    return false;
  }
  here_.add(rate);
  if (!best_->is_above(here_)) {
    if (here_.mean() >= best_->mean()) best_ = here_;
    return false;
  }
  if (here_.looks < kWorseLooks) return true;  // one look may have met a pause of the source
  blocked_ = percent_ > best_->percent ? 1 : -1;
  blocked_looks_ = kBlockedLooks;
  harm_ = here_;
  last_direction_ = 0;
  step_ = 1;
  narrows_ = false;
  move_to(best_->percent);
  return true;
}

void Balance::follow(double lean) {
  const int direction = std::abs(lean) <= std::log(kBand) ? 0 : lean > 0 ? 1 : -1;
  if (direction == 0) {
    step_ = 1;
    return;
  }
  if (direction == blocked_ || rests(lean)) return;
  if (last_direction_ != 0 && direction != last_direction_) {
    if (step_ == 1) return rest(lean);
    narrows_ = true;
  }
  set_step(direction);
  last_direction_ = direction;
  const std::uint32_t room = direction > 0 ? kWhole - percent_ : percent_;
  const std::uint32_t by = std::min(step_, room);
  if (by == 0) return;
  came_from_ = percent_;
  lean_there_ = lean;
  move_to(direction > 0 ? percent_ + by : percent_ - by);
}

/// While it narrows, each step is half of the last one, whatever the direction.
void Balance::set_step(int direction) {
  if (narrows_ && step_ > 1) {
    step_ /= 2;
  } else if (direction == last_direction_) {
    if (!std::exchange(narrows_, false)) step_ = std::min(step_ * 2, kStepMax);
    if (step_ > 2) pause_length_ = 1;
  }
}

/// One percent makes the other side the slower one: stays where both are more alike, for a while.
void Balance::rest(double lean) {
  pause_ = pause_length_ = std::min(pause_length_ * 2, kPauseMax);
  rest_lean_ = lean;
  last_direction_ = 0;
  narrows_ = false;
  if (std::abs(lean) <= std::abs(lean_there_)) return;
  rest_lean_ = lean_there_;
  move_to(came_from_);
}

/// A rest ends early when the times are others than at its beginning.
bool Balance::rests(double lean) {
  if (pause_ == 0) return false;
  if (std::abs(lean - rest_lean_) > std::log(kOther)) {
    pause_ = 0;
    pause_length_ = 1;
    return false;
  }
  --pause_;
  return true;
}

void Balance::move_to(std::uint32_t percent) {
  percent_ = given_ = percent;
  here_ = {.percent = percent};
  probe_every_ = kProbeEvery;
  settling_ = true;
}

/// At either end the side that gets nothing is asked now and then how long it takes.
std::uint32_t Balance::shown() {
  given_ = percent_;
  if (percent_ != 0 && percent_ != kWhole) {
    probe_ = 0;
    return given_;
  }
  Gathered& asked = percent_ == 0 ? gpu_ : cpu_;
  if (++probe_ < probe_every_) {
    asked.forget();
    return given_;
  }
  return given_ = percent_ == 0 ? 1 : kWhole - 1;
}

}  // namespace millrace
