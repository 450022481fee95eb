// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/queue_scaling.hpp"

#include <algorithm>
#include <utility>

#include "io-worker/ports/port.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kQueueLimit{25'000};  // of one queue
constexpr std::chrono::milliseconds kMoveLimit{60'000};   // for all shares
constexpr std::chrono::milliseconds kLeaveGrace{0};       // it has nothing left to do

void set_queues(PlanPort& port, std::uint32_t count) {
  const auto at =
      std::ranges::find(port.settings, "queues", &std::pair<std::string, std::string>::first);
  if (at != port.settings.end()) {
    at->second = std::to_string(count);
  } else {
    port.settings.emplace_back("queues", std::to_string(count));
  }
}

std::uint32_t before(const PlanDiff::Queues& step) { return step.before; }
std::uint32_t after(const PlanDiff::Queues& step) { return step.after; }
std::uint32_t larger(const PlanDiff::Queues& step) { return std::max(step.before, step.after); }

}  // namespace

QueueScaling::QueueScaling(Plan& plan, Fleet& fleet, Means means)
    : plan_(plan), fleet_(fleet), means_(std::move(means)) {}

/// Of the port's queues from `first` on, before `end`.
std::vector<Post*> QueueScaling::posts_of(std::uint32_t port, std::uint32_t first,
                                          std::uint32_t end) {
  std::vector<Post*> posts;
  for (Post& post : fleet_.posts()) {
    if (post.kind != ActorKind::kIngress) continue;
    const PlanStream& stream = plan_.streams[plan_.actors[post.seat().actor].index];
    const bool meant = stream.port == port && stream.queue >= first && stream.queue < end;
    if (meant) posts.push_back(&post);
  }
  return posts;
}

/// Of the queues that a port has by `last` and not by `first`.
std::vector<Post*> QueueScaling::posts_between(Number first, Number last) {
  std::vector<Post*> posts;
  for (const PlanDiff::Queues& step : steps_) {
    std::ranges::copy(posts_of(step.port, first(step), last(step)), std::back_inserter(posts));
  }
  return posts;
}

void QueueScaling::write_queues(Number which) {
  for (const PlanDiff::Queues& step : steps_) {
    MILLRACE_CHECK(step.port < plan_.ports.size());
    set_queues(plan_.ports[step.port], which(step));
  }
  save_plan(plan_, plan_path(means_.run_dir));
}

/// One that was given up gives nothing away, and would not read what it gets.
void QueueScaling::check(const std::vector<PlanDiff::Queues>& steps) {
  for (const PlanDiff::Queues& step : steps) {
    for (const Post* post : posts_of(step.port, 0, step.before)) {
      if (!post->policy.given_up()) continue;
      throw Error(post->name + " ended too often and is not started again: shares of port " +
                  plan_.ports[step.port].name + " cannot go to it, nor from it");
    }
  }
}

void QueueScaling::begin(std::vector<PlanDiff::Queues> steps) {
  MILLRACE_CHECK(idle());
  check(steps);
  steps_ = std::move(steps);
  started_ = 0;
  phase_ = Phase::kStart;
  try {
    write_queues(larger);
  } catch (const Error&) {
    for (const PlanDiff::Queues& step : steps_) set_queues(plan_.ports[step.port], step.before);
    forget();
    throw;
  }
  if (!posts_between(before, after).empty()) start_next();
}

void QueueScaling::resume() {
  ShareWords shares = means_.shares();
  for (std::uint32_t port = 0; port < plan_.ports.size(); ++port) {
    shares.spread(port, port_queues(plan_.ports[port]).receive);
  }
}

void QueueScaling::start_next() {
  const std::vector<Post*> posts = posts_between(before, after);
  MILLRACE_CHECK(started_ < posts.size());
  Post& post = *posts[started_++];
  patience_ = Patience(kQueueLimit);
  leaves_first_ = true;
  start(post);
}

/// The fleet starts it as soon as its entry is vacant. A process that still drains, from a change
/// that was taken back, belongs to an earlier start: its end says nothing of this one.
void QueueScaling::start(Post& post) {
  if (!leaves_first_ || post.wish == Wish::kDraining) return;
  leaves_first_ = false;
  means_.forget_ready(post.seat().actor);
  post.policy.allow();
  post.wish = Wish::kUp;
  post.seat().note.clear();
}

void QueueScaling::end(Post& post) {
  if (post.seat().child) {
    fleet_.let_drain(post, kLeaveGrace);
  } else {
    post.wish = Wish::kDown;
  }
}

/// Nothing has gone over to them yet.
void QueueScaling::take_back() {
  const std::vector<Post*> posts = posts_between(before, after);
  for (std::size_t i = 0; i < started_; ++i) end(*posts[i]);
  write_queues(before);
}

bool QueueScaling::all_started(Clock::time_point now) {
  const std::vector<Post*> posts = posts_between(before, after);
  if (posts.empty()) return true;
  MILLRACE_CHECK(started_ != 0 && started_ <= posts.size());
  Post& post = *posts[started_ - 1];
  start(post);
  const bool is_late = patience_.left(now).count() == 0;
  if (leaves_first_ && !is_late) return false;
  if (means_.is_ready(post.seat().actor)) {
    if (started_ == posts.size()) return true;
    start_next();
    return false;
  }
  std::string why;
  if (!post.seat().note.empty()) {
    why = post.name + " " + post.seat().note + " before it had opened its queue\n" +
          log_tail(means_.run_dir, post.name);
  } else if (is_late) {
    why = post.name + " has not opened its queue within " +
          std::to_string(kQueueLimit.count() / 1000) + " s\n" + log_tail(means_.run_dir, post.name);
  }
  if (why.empty()) return false;
  take_back();
  throw Error(why);
}

void QueueScaling::move() {
  shares_.emplace(means_.shares());
  for (const PlanDiff::Queues& step : steps_) shares_->spread(step.port, step.after);
}

bool QueueScaling::all_moved() const {
  MILLRACE_CHECK(shares_);
  return std::ranges::all_of(
      steps_, [&](const PlanDiff::Queues& step) { return shares_->all_moved(step.port); });
}

void QueueScaling::end_leavers() {
  for (Post* post : posts_between(after, before)) end(*post);
  write_queues(after);
}

/// What cannot go on is over: it is not asked for again.
bool QueueScaling::tend(Clock::time_point now) {
  try {
    return advance(now);
  } catch (const Error&) {
    forget();
    throw;
  }
}

bool QueueScaling::advance(Clock::time_point now) {
  if (phase_ == Phase::kStart && all_started(now)) {
    move();
    phase_ = Phase::kMove;
    patience_ = Patience(kMoveLimit, now);
  }
  if (phase_ == Phase::kMove && all_moved()) {
    end_leavers();
    phase_ = Phase::kEnd;
  }
  if (phase_ == Phase::kMove && patience_.left(now).count() == 0) {
    throw Error("shares have not gone where they are wanted within " +
                std::to_string(kMoveLimit.count() / 1000) +
                " s, and go on trying: see millrace status " + means_.run_words +
                "; apply again to end it");
  }
  return phase_ == Phase::kEnd &&
         std::ranges::all_of(posts_between(after, before),
                             [](const Post* post) { return post->wish == Wish::kDown; });
}

}  // namespace millrace
