// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/start_order.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "orchestration/supervisor/programs.hpp"
#include "shared/base/error.hpp"
#include "shared/base/patience.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAliveLimit{30'000};

std::string in_time() { return " within " + std::to_string(kAliveLimit.count() / 1000) + " s"; }

}  // namespace

StartOrder::StartOrder(const Plan& plan, Fleet& fleet, std::string run_dir, Means means)
    : plan_(plan), fleet_(fleet), run_dir_(std::move(run_dir)), means_(std::move(means)) {}

void StartOrder::run() {
  start_hub();
  start_kind({ActorKind::kStandby}, "standby");
  start_kind({ActorKind::kEgress}, "egress");
  start_kind({ActorKind::kClassifier, ActorKind::kGpu}, "workers");
  start_observers(true);
  start_kind({ActorKind::kIngress}, "ingress");
  wait_ready();
  start_observers(false);
}

void StartOrder::start_observers(bool before_packets) {
  for (Post& post : fleet_.posts()) {
    if (post.observer != nullptr && post.observer->before_packets == before_packets) {
      start_observer(post);
    }
  }
}

void StartOrder::start_hub() {
  fleet_.use_segment(make_segment_file(plan_.name));
  Post& hub = fleet_.post_of(ActorKind::kHub);
  fleet_.start(hub);
  Patience patience(kAliveLimit);
  while (!std::filesystem::exists(hub_ready_path(run_dir_))) {
    means_.turn(milliseconds(5));
    if (!hub.seat().child || patience.is_over()) {
      throw Error("hub " + (hub.seat().child ? "is not ready" + in_time() : hub.seat().note) +
                  "\n" + log_tail(run_dir_, hub.name));
    }
  }
  fleet_.attach_status();
  means_.say("hub: segment and status file are there");
}

void StartOrder::start_kind(std::initializer_list<ActorKind> kinds, const char* what) {
  const auto is_wanted = [&](const Post& post) {
    return post.kind && std::find(kinds.begin(), kinds.end(), *post.kind) != kinds.end() &&
           plan_.actors[post.seats[0].actor].at_start;
  };
  std::size_t count = 0;
  for (Post& post : fleet_.posts()) {
    if (!is_wanted(post)) continue;
    fleet_.start(post);
    ++count;
  }
  if (count == 0) return;
  wait_alive(what);
  means_.say(std::string(what) + ": " + std::to_string(count) + " alive");
}

void StartOrder::wait_alive(const char* what) {
  Patience patience(kAliveLimit);
  for (;;) {
    bool all = true;
    for (const Post& post : fleet_.posts()) {
      if (post.wish != Wish::kUp || !post.kind) continue;
      if (!post.seat().child) {
        throw Error(post.name + " " + post.seat().note + " at its start\n" +
                    log_tail(run_dir_, post.name));
      }
      all = all && fleet_.state(post.seat()) == ActorState::kAlive;
      if (!all && patience.is_over()) {
        throw Error(std::string(what) + ": " + post.name + " is not alive" + in_time() + "\n" +
                    log_tail(run_dir_, post.name));
      }
    }
    if (all) return;
    means_.turn(milliseconds(5));
    if (means_.is_ending()) throw Error("interrupted while starting " + std::string(what));
  }
}

/// An actor that is alive may still be opening its ports; packets that arrive until then are not
/// seen.
void StartOrder::wait_ready() {
  Patience patience(kAliveLimit);
  const auto waits = [&](const Post& post) {
    const bool ports = post.kind == ActorKind::kIngress || post.kind == ActorKind::kEgress;
    return ports && post.wish == Wish::kUp && !means_.is_ready(post.seat().actor);
  };
  for (;;) {
    const auto at = std::ranges::find_if(fleet_.posts(), waits);
    if (at == fleet_.posts().end()) return;
    if (!at->seat().child) {
      throw Error(at->name + " " + at->seat().note + " at its start\n" +
                  log_tail(run_dir_, at->name));
    }
    if (patience.is_over()) {
      throw Error(at->name + " has not opened its ports" + in_time() + "\n" +
                  log_tail(run_dir_, at->name));
    }
    means_.turn(milliseconds(5));
    if (means_.is_ending()) throw Error("interrupted while ports are opened");
  }
}

/// Waits until it serves: one that cannot listen would be restarted until it is given up, and
/// nothing would say why there are no metrics.
void StartOrder::start_observer(Post& post) {
  fleet_.start(post);
  Patience patience(kAliveLimit);
  while (!std::filesystem::exists(run_dir_ + "/" + post.observer->ready_file)) {
    means_.turn(milliseconds(5));
    if (means_.is_ending()) throw Error("interrupted while starting " + post.name);
    if (post.seat().child && !patience.is_over()) continue;
    throw Error(post.name + " " +
                (post.seat().child ? "does not listen" + in_time() : post.seat().note) +
                " at its start\n" + log_tail(run_dir_, post.name));
  }
}

}  // namespace millrace
