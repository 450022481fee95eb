// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/port_growth.hpp"

#include <algorithm>
#include <utility>

#include "orchestration/supervisor/programs.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kLimit{25'000};  // of one queue

void set_queues(PlanPort& port, std::uint32_t count) {
  const auto at =
      std::ranges::find(port.settings, "queues", &std::pair<std::string, std::string>::first);
  if (at != port.settings.end()) {
    at->second = std::to_string(count);
  } else {
    port.settings.emplace_back("queues", std::to_string(count));
  }
}

}  // namespace

PortGrowth::PortGrowth(Plan& plan, Fleet& fleet, Means means)
    : plan_(plan), fleet_(fleet), means_(std::move(means)) {}

/// Those of the new queues, ascending: the last one shares the flows among all.
std::vector<Post*> PortGrowth::posts_to_come() {
  std::vector<Post*> posts;
  for (const PlanDiff::Queues& step : steps_) {
    for (Post& post : fleet_.posts()) {
      if (post.kind != ActorKind::kIngress) continue;
      const PlanStream& stream = plan_.streams[plan_.actors[post.seat().actor].index];
      if (stream.port == step.port && stream.queue >= step.before && stream.queue < step.after) {
        posts.push_back(&post);
      }
    }
  }
  return posts;
}

void PortGrowth::write_queues(bool after) {
  for (const PlanDiff::Queues& step : steps_) {
    set_queues(plan_.ports[step.port], after ? step.after : step.before);
  }
  save_plan(plan_, means_.run_dir + "/plan.bin");
}

void PortGrowth::begin(std::vector<PlanDiff::Queues> steps) {
  steps_ = std::move(steps);
  started_ = 0;
  try {
    write_queues(true);
  } catch (const Error&) {
    for (const PlanDiff::Queues& step : steps_) set_queues(plan_.ports[step.port], step.before);
    forget();
    throw;
  }
  start_next();
}

/// The fleet starts it as soon as its entry is vacant.
void PortGrowth::start_next() {
  Post& post = *posts_to_come()[started_];
  means_.is_not_ready(post.seat().actor);
  post.policy.allow();
  post.wish = Wish::kUp;
  post.seat().note.clear();
  ++started_;
  until_ = Clock::now() + kLimit;
}

void PortGrowth::take_back() {
  const std::vector<Post*> posts = posts_to_come();
  for (std::size_t i = 0; i < started_; ++i) {
    if (posts[i]->seat().child) {
      fleet_.let_drain(*posts[i], std::chrono::milliseconds(0));
    } else {
      posts[i]->wish = Wish::kDown;
    }
  }
  write_queues(false);
  forget();
}

bool PortGrowth::tend(Clock::time_point now) {
  const std::vector<Post*> posts = posts_to_come();
  const Post& post = *posts[started_ - 1];
  if (means_.is_ready(post.seat().actor)) {
    if (started_ == posts.size()) return true;
    start_next();
    return false;
  }
  std::string why;
  if (!post.seat().note.empty()) {
    why = post.name + " " + post.seat().note + " before it had opened its queue\n" +
          log_tail(means_.run_dir, post.name);
  } else if (now > until_) {
    why = post.name + " has not opened its queue within " + std::to_string(kLimit.count() / 1000) +
          " s\n" + log_tail(means_.run_dir, post.name);
  }
  if (why.empty()) return false;
  take_back();
  throw Error(why);
}

}  // namespace millrace
