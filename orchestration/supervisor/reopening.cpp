// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>

#include "io-worker/ports/kept_file.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"

// Ports whose interface has gone, or is another one.

namespace millrace {

void Supervisor::watch_ports() {
  ports_.emplace(plan_, options_.run_dir, is_in_use,
                 PortWatch::Hooks{[this](Event event) { note(std::move(event)); },
                                  [this](std::uint32_t port) { reopen(port); },
                                  [this](const std::string& from, const std::string& to) {
                                    follow_name(from, to);
                                  }});
}

void Supervisor::follow_name(const std::string& from, const std::string& to) {
  try {
    rename_in_bypass(options_.run_dir, from, to);
  } catch (const Error& error) {
    note({.severity = Severity::kError,
          .kind = "bypass_not_noted",
          .text = "the bypass will not find " + to + ", which was " + from + ": " + error.what(),
          .time_ns = system_clock_ns()});
  }
}

/// Its interface is another one: its ingresses begin anew, and that is no failure of theirs.
void Supervisor::reopen(std::uint32_t port) {
  ShareWords shares(plan_);
  for (Post& post : fleet_.posts()) {
    if (post.kind != ActorKind::kIngress) continue;
    if (!post.seat().child && post.policy.given_up()) continue;
    const auto receives = [&](std::uint32_t actor) {
      const PlanActor& one = plan_.actors[actor];
      return one.kind == ActorKind::kIngress && plan_.streams[one.index].port == port;
    };
    if (!receives(post.seat().actor) && std::ranges::none_of(post.seat().others, receives))
      continue;
    post.policy.allow();
    if (post.seat().child) post.seat().child->signal(SIGKILL);  // else it is about to start
    shares.forget_joined(port, post.seat().actor);
    for (const std::uint32_t actor : post.seat().others) shares.forget_joined(port, actor);
  }
  // Sockets of the interface that has gone receive nothing more, and keep a fanout group that no
  // socket of another interface of that number may join.
  for (const PlanStream& stream : plan_.streams) {
    if (stream.port != port) continue;
    discard_kept(options_.run_dir, kept_file_name(plan_.ports[port], stream.queue));
  }
}

}  // namespace millrace
