// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/scaling.hpp"

#include <algorithm>
#include <utility>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kLimit{25'000};
constexpr std::uint32_t kFailedStartsMax = 3;
constexpr std::chrono::milliseconds kDrainGrace{15'000};
constexpr std::chrono::milliseconds kAskAgain{1'000};  // the leader may be another one since

bool is_worker_of(const Post& post, std::uint32_t group) {
  return is_worker(post) && post.group == group;
}

std::string unknown_group(const Plan& plan, const std::string& name) {
  std::vector<std::string_view> names;
  for (const PlanGroup& group : plan.groups) names.push_back(group.name);
  return no_such("group", name, names);
}

}  // namespace

Scaling::Scaling(const Plan& plan, Fleet& fleet, AskDrain ask_drain, std::string run_words)
    : plan_(plan),
      fleet_(fleet),
      ask_drain_(std::move(ask_drain)),
      run_words_(std::move(run_words)) {}

std::uint32_t Scaling::wanted_count(std::uint32_t group) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(fleet_.posts(), [&](const Post& post) {
    return is_worker_of(post, group) && post.wish == Wish::kUp;
  }));
}

std::vector<Scaling::Step> Scaling::check(const std::vector<GroupCount>& wanted) const {
  std::vector<Step> steps;
  for (const GroupCount& one : wanted) {
    const auto at = std::ranges::find(plan_.groups, one.group, &PlanGroup::name);
    if (at == plan_.groups.end()) throw Error(unknown_group(plan_, one.group));
    if (plan_.fused) {
      throw Error(
          "a topology with `placement: fused` does not scale: its workers share one thread");
    }
    if (one.count < 1 || one.count > at->max) {
      throw Error("group '" + at->name + "' can have 1 to " + std::to_string(at->max) +
                  " workers, not " + std::to_string(one.count));
    }
    const auto group = static_cast<std::uint32_t>(at - plan_.groups.begin());
    if (std::ranges::find(steps, group, &Step::group) != steps.end()) {
      throw Error("group '" + at->name + "' is named twice");
    }
    steps.push_back({group, wanted_count(group), one.count});
  }
  return steps;
}

void Scaling::begin(std::vector<Step> steps) {
  MILLRACE_CHECK(idle());
  steps_ = std::move(steps);
  patience_ = Patience(kLimit);
  ask_again_ = Clock::now() + kAskAgain;
  for (const Step& step : steps_) {
    MILLRACE_CHECK(step.group < plan_.groups.size());
    for (Post& post : fleet_.posts()) {
      if (is_worker_of(post, step.group)) post.failed_starts = 0;
    }
    try_again(step.group);
    up(step.group, step.after);
    down(step.group, step.after);
  }
}

/// A request for as many as there should be is one to try again those that were given up.
void Scaling::try_again(std::uint32_t group) {
  for (Post& post : fleet_.posts()) {
    if (is_worker_of(post, group) && post.wish == Wish::kUp && post.policy.given_up()) {
      post.policy.allow();
    }
  }
}

/// As far as there are places: one whose worker still drains is none yet.
void Scaling::up(std::uint32_t group, std::uint32_t count) {
  for (Post& post : fleet_.posts()) {
    if (wanted_count(group) >= count) return;
    if (!is_worker_of(post, group) || post.wish != Wish::kDown) continue;
    // Started by the fleet as soon as its entry is vacant.
    post.policy.allow();
    post.wish = Wish::kUp;
  }
}

void Scaling::down(std::uint32_t group, std::uint32_t count) {
  for (auto post = fleet_.posts().rbegin(); post != fleet_.posts().rend(); ++post) {
    if (wanted_count(group) <= count) return;
    if (!is_worker_of(*post, group) || post->wish != Wish::kUp) continue;
    if (!post->seat().child) {
      post->wish = Wish::kDown;
      continue;
    }
    ask_drain_(post->seat().actor);
    fleet_.let_drain(*post, kDrainGrace);
  }
}

bool Scaling::settled(std::uint32_t group) const {
  return std::ranges::all_of(fleet_.posts(), [&](const Post& post) {
    if (!is_worker_of(post, group)) return true;
    if (post.wish == Wish::kUp) return fleet_.state(post.seat().actor) == ActorState::kAlive;
    return std::ranges::none_of(post.seats,
                                [](const Seat& seat) { return seat.child.has_value(); });
  });
}

/// What fails again and again will not be there within the limit either.
void Scaling::refuse_failed() const {
  for (const Step& step : steps_) {
    for (const Post& post : fleet_.posts()) {
      if (!is_worker_of(post, step.group) || post.wish != Wish::kUp) continue;
      if (post.failed_starts < kFailedStartsMax) continue;
      throw Error("not all workers are where they should be: " + post.name + " " +
                  post.seat().note + " at its start, " + std::to_string(post.failed_starts) +
                  " times; see millrace logs " + run_words_ + " " + fleet_.name_of(post));
    }
  }
}

bool Scaling::tend(Clock::time_point now) {
  for (const Step& step : steps_) up(step.group, step.after);
  if (std::ranges::all_of(steps_, [&](const Step& step) {
        return wanted_count(step.group) == step.after && settled(step.group);
      })) {
    return true;
  }
  refuse_failed();
  if (patience_.left(now).count() == 0) {
    throw Error("not all workers are where they should be within " +
                std::to_string(kLimit.count() / 1000) + " s; see millrace status " + run_words_);
  }
  if (now < ask_again_) return false;
  ask_again_ = now + kAskAgain;
  for (const Post& post : fleet_.posts()) {
    if (post.wish != Wish::kDraining || !post.seat().child) continue;
    if (fleet_.state(post.seat().actor) == ActorState::kAlive) ask_drain_(post.seat().actor);
  }
  return false;
}

}  // namespace millrace
