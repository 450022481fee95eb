// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/takeover.hpp"

#include <filesystem>
#include <utility>

#include "io-worker/ports/kept_file.hpp"
#include "io-worker/ports/port.hpp"
#include "orchestration/supervisor/post_state.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "shared/base/error.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kTakeoverGrace{8'000};

/// Those too that were being added when the supervisor died: the plan says how many there are.
void want_all_queues(const Plan& plan, Fleet& fleet) {
  for (Post& post : fleet.posts()) {
    if (post.kind != ActorKind::kIngress) continue;
    const PlanStream& stream = plan.streams[plan.actors[post.seats[0].actor].index];
    if (stream.queue < port_queues(plan.ports[stream.port]).receive) post.wish = Wish::kUp;
  }
}

}  // namespace

void refuse_older_build(const std::string& run_dir) {
  if (std::filesystem::exists(run_state_path(run_dir))) return;
  for (const char* name : {"/supervisor.posts", "/control.remote", "/history/deadline"}) {
    if (!std::filesystem::exists(run_dir + name)) continue;
    throw Error(run_dir + name + ": of an older build, which this one cannot go on from: adopt " +
                "with that build, or plan a restart");
  }
}

std::vector<FoundProcess> processes_to_take_over(const Plan& plan, const std::string& run_dir) {
  std::vector<FoundProcess> found = find_processes(run_dir);
  if (found.empty()) throw Error("nothing of topology '" + plan.name + "' runs in " + run_dir);
  return found;
}

void take_over_processes(const Plan& plan, Fleet& fleet, const std::vector<PostState>& states,
                         const std::vector<FoundProcess>& found) {
  for (Post& post : fleet.posts()) {
    const std::uint32_t actor = post.seats[0].actor;
    if (actor == kNoActor || plan.actors[actor].at_start) post.wish = Wish::kUp;
  }
  restore_posts(states, fleet.posts());
  want_all_queues(plan, fleet);
  for (const FoundProcess& process : found) fleet.adopt(process);
}

bool take_over_segment(const Plan& plan, Fleet& fleet, const std::string& run_dir) {
  UniqueFd file;
  for (const Post& post : fleet.posts()) {
    const auto& child = post.seat().child;
    if (!file && child) file = segment_file_of(child->pid(), plan.name);
  }
  if (!file) file = borrow_kept(run_dir, kSegmentLoan);
  const bool found = static_cast<bool>(file);
  fleet.use_segment(std::move(file));
  return found;
}

void let_unwanted_drain(Fleet& fleet) {
  for (Post& post : fleet.posts()) {
    const bool leaves = post.wish == Wish::kDown && post.seat().child;
    if (leaves) fleet.let_drain(post, kTakeoverGrace);
  }
}

}  // namespace millrace
