// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/reopening.hpp"

#include <algorithm>
#include <csignal>

#include "io-worker/ports/kept_file.hpp"
#include "orchestration/supervisor/share_words.hpp"

namespace millrace {

void reopen_ingresses(const Plan& plan, Fleet& fleet, const std::string& run_dir,
                      std::uint32_t port) {
  ShareWords shares(plan);
  for (Post& post : fleet.posts()) {
    if (post.kind != ActorKind::kIngress) continue;
    const auto receives = [&](std::uint32_t actor) {
      const PlanActor& one = plan.actors[actor];
      return one.kind == ActorKind::kIngress && plan.streams[one.index].port == port;
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
  for (const PlanStream& stream : plan.streams) {
    if (stream.port != port) continue;
    discard_kept(run_dir, kept_file_name(plan.ports[port], stream.queue));
  }
}

}  // namespace millrace
