// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_renumber.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "shared/base/limits.hpp"
#include "shared/config/plan_reasons.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kNoNumber = UINT32_MAX;

class Renumbering {
 public:
  Renumbering(const Plan& now, Plan next) : now_(now), next_(std::move(next)) {}

  Renumbered renumbered() {
    classes();
    reasons();
    functions();
    for (PlanStage& stage : next_.stages) {
      for (std::uint32_t& function : stage.functions) function = numbers_[function];
    }
    next_.others.clear();
    next_.other_stages.clear();
    return {std::move(next_), std::move(obstacles_)};
  }

 private:
  void classes() {
    std::vector<std::string> all = now_.classes;
    for (const std::string& name : next_.classes) {
      const auto at = std::ranges::find(all, name) - all.begin();
      bits_.push_back(static_cast<std::uint32_t>(at));
      if (at == std::ssize(all)) all.push_back(name);
    }
    if (all.size() > kClassCountMax) {
      obstacles_.push_back("classes: more than " + std::to_string(kClassCountMax) +
                           " names since the start");
      all.resize(kClassCountMax);
    }
    next_.classes = std::move(all);
  }

  void reasons() {
    std::vector<PlanReason> all = now_.reasons;
    for (PlanReason& reason : next_.reasons) number_reason(all, std::move(reason));
    if (all.size() > kDeclaredReasonCountMax) {
      obstacles_.push_back("drop reasons of functions: more than " +
                           std::to_string(kDeclaredReasonCountMax) + " names since the start");
      all.resize(kDeclaredReasonCountMax);
    }
    next_.reasons = std::move(all);
  }

  std::uint32_t mask_of(std::uint32_t mask) const {
    std::uint32_t renumbered = 0;
    for (; mask != 0; mask &= mask - 1) {
      const std::uint32_t bit = bits_[static_cast<std::size_t>(std::countr_zero(mask))];
      if (bit < kClassCountMax) renumbered |= 1u << bit;
    }
    return renumbered;
  }

  /// A function finds its classes by the order of their bits.
  bool keeps_order(std::uint32_t mask) const {
    std::uint32_t end = 0;
    for (; mask != 0; mask &= mask - 1) {
      const std::uint32_t bit = bits_[static_cast<std::size_t>(std::countr_zero(mask))];
      if (bit < end) return false;
      end = bit + 1;
    }
    return true;
  }

  void functions() {
    std::vector<PlanFunction> all;
    all.reserve(now_.functions.size());
    for (const PlanFunction& function : now_.functions) all.push_back(gone(function));
    for (PlanFunction& function : next_.functions) {
      numbers_.push_back(kNoNumber);
      if (function.gone) continue;
      if (!keeps_order(function.class_mask)) {
        obstacles_.push_back("function " + function.name +
                             ": its classes, in another order than when they were first named");
      }
      function.when_class = mask_of(function.when_class);
      function.class_mask = mask_of(function.class_mask);
      const auto place = std::ranges::find(all, function.name, &PlanFunction::name) - all.begin();
      numbers_.back() = static_cast<std::uint32_t>(place);
      if (place == std::ssize(all)) all.emplace_back();
      all[numbers_.back()] = std::move(function);
    }
    if (all.size() > kFunctionPlaceMax) {
      obstacles_.push_back("functions: more than " + std::to_string(kFunctionPlaceMax) +
                           " names since the start");
    }
    next_.functions = std::move(all);
  }

  const Plan& now_;
  Plan next_;
  std::vector<std::uint32_t> bits_;     ///< of the classes of `next`, in `now`
  std::vector<std::uint32_t> numbers_;  ///< of its functions
  std::vector<std::string> obstacles_;
};

}  // namespace

PlanFunction gone(const PlanFunction& function) {
  PlanFunction place{.name = function.name, .type = function.type, .group = function.group};
  place.stateful = function.stateful;
  place.lane_state_bytes = function.lane_state_bytes;
  place.lane_undo_lines = function.lane_undo_lines;
  place.counter_count = function.counter_count;
  place.edition = function.edition;
  place.gone = true;
  return place;
}

Renumbered renumbered(const Plan& now, Plan next) {
  return Renumbering(now, std::move(next)).renumbered();
}

}  // namespace millrace
