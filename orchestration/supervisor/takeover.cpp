// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>

#include "io-worker/ports/kept_file.hpp"
#include "io-worker/ports/port.hpp"
#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/error.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/mapping.hpp"

// A supervisor that takes over what another one started.

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kTakeoverGrace{8'000};

}  // namespace

void Supervisor::take_over_processes() {
  const std::vector<FoundProcess> found = find_processes(options_.run_dir);
  if (found.empty())
    throw Error("nothing of topology '" + plan_.name + "' runs in " + options_.run_dir);
  server_ = std::make_unique<ControlServer>(options_.run_dir, kSupervisorEndpoint);
  for (Post& post : fleet_.posts()) {
    const std::uint32_t actor = post.seats[0].actor;
    if (actor == kNoActor || plan_.actors[actor].at_start) post.wish = Wish::kUp;
  }
  restore_posts(read_post_notes(options_.run_dir), fleet_.posts());
  want_all_queues();
  resume_counts();
  for (const FoundProcess& process : found) fleet_.adopt(process);
}

/// From any process that has it; where this user may not look at their descriptors, from hub or
/// standby, which lend it.
void Supervisor::take_over_segment() {
  UniqueFd file;
  for (const Post& post : fleet_.posts()) {
    const auto& child = post.seat().child;
    if (!file && child) file = segment_file_of(child->pid(), plan_.name);
  }
  if (!file) file = borrow_kept(options_.run_dir, kSegmentLoan);
  if (!file) {
    note({.severity = Severity::kError,
          .kind = "planned_restart_needed",
          .text = "no process hands the segment over: none can be started again; plan a restart"});
  }
  fleet_.use_segment(std::move(file));
}

/// Those too that were being added when the supervisor died: the plan says how many there are.
void Supervisor::want_all_queues() {
  for (Post& post : fleet_.posts()) {
    if (post.kind != ActorKind::kIngress) continue;
    const PlanStream& stream = plan_.streams[plan_.actors[post.seats[0].actor].index];
    if (stream.queue < port_queues(plan_.ports[stream.port]).receive) post.wish = Wish::kUp;
  }
}

void Supervisor::adopt() {
  const bool was_ready = std::filesystem::exists(hub_ready_path(options_.run_dir));
  if (!was_ready && !find_processes(options_.run_dir).empty()) {
    throw Error("topology '" + plan_.name +
                "' lost its supervisor while it started; end it: millrace down " + run_words());
  }
  if (was_ready) fleet_.attach_status();
  take_over_processes();
  take_over_segment();
  for (Post& post : fleet_.posts()) {
    const bool leaves = post.wish == Wish::kDown && post.seat().child;
    if (leaves) fleet_.let_drain(post, kTakeoverGrace);
  }
  std::error_code none;  // one that died over stopping it is not followed
  std::filesystem::remove(options_.run_dir + "/stopping", none);
  const bool has_hub = fleet_.post_of(ActorKind::kHub).seat().child.has_value();
  phase_ = has_hub ? "running" : "degraded";
  changes_->resume();
  try {
    options_.control = load_remote_control(options_.run_dir);
    listen_by_tcp();
  } catch (const Error& error) {  // its traffic goes on all the same
    note({.severity = Severity::kError, .kind = "control_closed", .text = error.what()});
  }
  say("taken over: " + std::to_string(fleet_.process_count()) + " processes");
}

void Supervisor::adopt_to_stop() {
  if (std::filesystem::exists(hub_ready_path(options_.run_dir))) fleet_.attach_status();
  take_over_processes();
  phase_ = "running";
}

}  // namespace millrace
