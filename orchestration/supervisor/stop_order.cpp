// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/stop_order.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "shared/base/patience.hpp"
#include "shared/config/loop.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{5000};
constexpr milliseconds kFlightLimit{5000};  // packets of a loop may go round for ever
constexpr milliseconds kDrainTurn{20};      // an entry becomes vacant without a message

}  // namespace

StopOrder::StopOrder(const Plan& plan, Fleet& fleet, Means means)
    : plan_(plan), fleet_(fleet), means_(std::move(means)) {}

void StopOrder::drain_flight() {
  Patience patience(kFlightLimit);
  while (fleet_.status() != nullptr && fleet_.status()->in_flight() != 0 && !patience.is_over()) {
    means_.turn(kDrainTurn);
    fleet_.tend();
  }
}

/// Ports in loops are read until the packets of the other ports have left, or drain_flight() has
/// waited for kFlightLimit.
void StopOrder::stop_sources() {
  // Asked first, as it takes its time; no other process waits for its end.
  Post& telemetry = fleet_.posts().back();
  telemetry.wish = Wish::kDown;
  if (telemetry.seat().child) telemetry.seat().child->signal(SIGTERM);
  const auto is_loops = [&](const Post& post) {
    const std::uint32_t actor = post.seats.front().actor;
    return !plan_.fused && is_loop(plan_.ports[plan_.streams[plan_.actors[actor].index].port]);
  };
  for (const bool loops : {false, true}) {
    if (loops && !has_loop(plan_)) break;
    fleet_.stop(
        [&](const Post& post) {
          return post.kind == ActorKind::kIngress && is_loops(post) == loops;
        },
        kGrace);
    drain_flight();
  }
  means_.say("ingress stopped");
}

void StopOrder::stop_kinds(std::initializer_list<ActorKind> kinds, const char* what) {
  fleet_.stop(
      [&](const Post& post) {
        return post.kind && std::find(kinds.begin(), kinds.end(), *post.kind) != kinds.end();
      },
      kGrace);
  means_.say(std::string(what) + " stopped");
}

void StopOrder::stop_rest() {
  stop_kinds({ActorKind::kClassifier, ActorKind::kGpu}, "workers");
  stop_kinds({ActorKind::kEgress}, "egress");
  // Before the hub: else it would take over for a moment.
  stop_kinds({ActorKind::kStandby}, "standby");
  stop_kinds({ActorKind::kHub}, "hub");
  fleet_.stop([](const Post&) { return true; }, kGrace);
}

}  // namespace millrace
