// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/fleet.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "io-worker/ports/kept_file.hpp"
#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/share_words.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/patience.hpp"
#include "shared/config/observers.hpp"
#include "shared/control/beat_file.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kKillAfterTerm{2000};
constexpr std::chrono::milliseconds kExitAfterKill{2000};
// From its start until it takes its actor's place: tables, drivers and a GPU are opened before.
constexpr std::chrono::minutes kStartLimit{2};
// Of an observer, a heartbeat limit at least: no packets wait for it.
constexpr std::uint64_t kObserverLimitNs = 1'250'000'000;

}  // namespace

Fleet::Fleet(const Plan& plan, FleetPlace place, Tell tell)
    : plan_(plan),
      place_(std::move(place)),
      tell_(std::move(tell)),
      posts_(make_posts(plan, place_.limits)),
      hub_watch_(new_watch()),
      standby_watch_(new_watch()) {
  const LeaderWatch watch(
      std::max<std::uint64_t>(plan.heartbeat_limit_ms * 1'000'000ull, kObserverLimitNs),
      LeaderWatch::kSupervisorsPatience);
  for (const Post& post : posts_) {
    if (!post.kind) observers_.emplace(post.name, Observer{watch});
  }
}

void Fleet::attach_status() { status_ = std::make_unique<StatusSource>(plan_); }

ActorState Fleet::state(std::uint32_t actor) const {
  return status_ == nullptr ? ActorState::kVacant : status_->state(actor);
}

ActorState Fleet::state(const Seat& seat) const {
  const ActorState first = state(seat.actor);
  const bool alike =
      std::ranges::all_of(seat.others, [&](std::uint32_t other) { return state(other) == first; });
  return alike ? first : ActorState::kStarting;
}

Post& Fleet::post_of(ActorKind kind) {
  const auto at = std::find_if(posts_.begin(), posts_.end(),
                               [&](const Post& post) { return post.kind == kind; });
  MILLRACE_CHECK(at != posts_.end());
  return *at;
}

void Fleet::say(Severity severity, const char* kind, const Seat& seat, const std::string& text,
                std::uint64_t number) const {
  tell_({.severity = severity, .kind = kind, .actor = seat.actor, .text = text, .number = number});
}

const std::string& Fleet::name_of(const Post& post) const {
  const std::uint32_t actor = post.seat().actor;
  return actor == kNoActor ? post.name : plan_.actors.at(actor).name;
}

Command Fleet::command_of(const Post& post, const std::string& folder) const {
  if (!post.kind) return observer_command(folder, post.name, place_.run_dir);
  Command command = actor_command(folder, place_.run_dir, plan_, post.seat().actor);
  command.segment = segment_.get();
  return command;
}

void Fleet::start(Post& post) {
  MILLRACE_CHECK(!post.seat().child);  // it would be forgotten, and go on
  post.wish = Wish::kUp;
  post.reported = false;
  post.policy.started(Clock::now());
  post.seat().child =
      Child::start(command_of(post, folder_of(post)), log_path(place_.run_dir, name_of(post)));
}

void Fleet::start_successor(Post& post, const std::string& folder) {
  MILLRACE_CHECK(post.seat().child);
  Command command = command_of(post, folder);
  command.arguments.emplace_back("--successor");
  post.seat().next = Child::start(command, log_path(place_.run_dir, name_of(post)));
}

namespace {

/// Name of the post of a process that plays no actor; of a program that is none of ours, the last.
const char* observer_of(const FoundProcess& found) {
  const auto* const known = std::ranges::find_if(kObservers, [&](const ObserverKind& one) {
    return found.program == std::string("millrace-") + one.name;
  });
  return (known == std::end(kObservers) ? std::prev(known) : known)->name;
}

}  // namespace

void Fleet::adopt(const FoundProcess& found) {
  for (Post& post : posts_) {
    for (std::size_t i = 0; i < post.seats.size(); ++i) {
      Seat& seat = post.seats[i];
      if (static_cast<int>(seat.actor) != found.actor) continue;  // -1: an observer
      if (!post.kind && post.name != observer_of(found)) continue;
      std::optional<Child> child = Child::adopt(found.pid, found.start_time);
      if (!child) return;
      if (seat.child && found.successor) {
        seat.next = std::move(child);
        return;
      }
      seat.next = std::move(seat.child);
      seat.child = std::move(child);
      post.current = i;
      post.policy.found(Clock::now());
    }
  }
}

void Fleet::reap() {
  memory_.look(Clock::now());
  for (Post& post : posts_) {
    for (Seat& seat : post.seats) reap(post, seat);
  }
}

void Fleet::reap(Post& post, Seat& seat) {
  if (seat.next) {
    const auto end = seat.next->ended();
    if (end) {
      seat.next.reset();
      say(Severity::kWarning, "successor_exited", seat,
          "the successor of " + post.name + " " + text_of(*end));
    }
  }
  if (!seat.child) return;
  const auto end = seat.child->ended();
  if (end) report_end(post, seat, *end);
}

/// How a process of another supervisor ended is not known.
std::string Fleet::text_of(const ExitStatus& end) {
  std::string text = end.text();
  if (end.known && end.signal != SIGKILL) return text;
  if (const auto why = memory_.explain(Clock::now())) text += ", " + *why;
  return text;
}

void Fleet::report_end(Post& post, Seat& seat, const ExitStatus& end) {
  MILLRACE_CHECK(seat.child);
  const auto pid = static_cast<std::uint64_t>(seat.child->pid());
  seat.note = text_of(end);
  seat.child.reset();
  if (seat.next) {
    seat.child = std::move(seat.next);
    seat.next.reset();
    post.policy.allow();
    post.policy.started(Clock::now());
    say(Severity::kInfo, "succeeded", seat, post.name + " " + seat.note + "; its successor goes on",
        pid);
    return;
  }
  if (post.wish == Wish::kDraining) {
    post.wish = Wish::kDown;
    // It may have left its socket at any time until now.
    if (post.kind == ActorKind::kIngress) give_up_queue(post);
  }
  if (&seat == &post.seat()) {
    post.policy.ended(Clock::now());
    const bool gave_up = end.known && end.signal == 0 && end.code != 0;
    post.failed_starts = gave_up && !post.policy.was_healthy() ? post.failed_starts + 1 : 0;
  }
  if (post.wish == Wish::kDown || post.replacing) {
    say(Severity::kInfo, "stopped", seat, post.name + " " + seat.note, pid);
  } else if (post.kind == ActorKind::kHub) {
    say(Severity::kError, "hub_lost", seat,
        post.name + " " + seat.note +
            ": traffic goes on, the standby recovers workers; plan a restart",
        pid);
  } else {
    say(Severity::kWarning, "worker_exited", seat, post.name + " " + seat.note, pid);
  }
}

void Fleet::tend() {
  const auto now = Clock::now();
  for (Post& post : posts_) {
    if (post.wish == Wish::kDraining) tend_draining(post, now);
    if (post.wish == Wish::kUp && !post.replacing) tend_wanted(post, now);
    if (post.kind == ActorKind::kHub || post.kind == ActorKind::kStandby) tend_leader(post);
    if (!post.kind && post.wish == Wish::kUp) tend_observer(post, now);
  }
}

LeaderWatch Fleet::new_watch() const {
  return {plan_.heartbeat_limit_ms * 1'000'000ull, LeaderWatch::kSupervisorsPatience};
}

/// Hub and standby watch each other. When both hang, or the one that is left does, no other
/// ends them.
void Fleet::tend_leader(Post& post) {
  LeaderWatch& watch = post.kind == ActorKind::kHub ? hub_watch_ : standby_watch_;
  const Seat& seat = post.seat();
  if (!seat.child || !status_ || state(seat) != ActorState::kAlive) {
    watch = new_watch();
  } else if (watch.hangs(status_->heartbeat(seat.actor), monotonic_ns())) {
    say(Severity::kError, "leader_hung", seat, post.name + " hangs: killed");
    seat.child->signal(SIGKILL);
    watch = new_watch();
  }
}

/// It has no entry that the leader watches. One that has not begun to beat is still starting.
void Fleet::tend_observer(const Post& post, Clock::time_point now) {
  const Seat& seat = post.seat();
  Observer& observer = observers_.at(post.name);
  if (!seat.child || seat.child->pid() == observer.killed) return;
  const auto beat = read_beat(beat_path(place_.run_dir, post.name));
  const bool beats = beat && beat->pid == seat.child->pid();
  const bool hangs = beats ? observer.watch.hangs(beat->time_ns, monotonic_ns())
                           : now - post.policy.started_at() > kStartLimit;
  if (!hangs) return;
  say(Severity::kError, (post.name + "_hung").c_str(), seat, post.name + " hangs: killed");
  observer.killed = seat.child->pid();
  seat.child->signal(SIGKILL);
}

std::optional<std::uint64_t> Fleet::heartbeat_age_ms(const Post& post, const Seat& seat,
                                                     std::uint32_t actor) const {
  if (!seat.child || !status_) return std::nullopt;
  if (actor != kNoActor) {
    if (status_->heartbeat(actor) == 0) return std::nullopt;
    return status_->facts(actor).heartbeat_age_ms;
  }
  const auto beat = read_beat(beat_path(place_.run_dir, post.name));
  if (!beat || beat->pid != seat.child->pid()) return std::nullopt;
  const std::uint64_t now = monotonic_ns();
  return now > beat->time_ns ? (now - beat->time_ns) / 1'000'000 : 0;
}

void Fleet::tend_draining(Post& post, Clock::time_point now) {
  const std::chrono::milliseconds left = post.drain.left(now);
  for (const Seat& seat : post.seats) {
    if (seat.child && left <= kKillAfterTerm)
      seat.child->signal(left.count() != 0 ? SIGTERM : SIGKILL);
  }
}

/// The leader watches those that have taken their places; this one has not, and keeps others from
/// taking it.
bool Fleet::hangs_at_its_start(const Post& post, Clock::time_point now) const {
  return post.kind && post.kind != ActorKind::kHub && post.seat().child && status_ &&
         state(post.seat()) == ActorState::kVacant && now - post.policy.started_at() > kStartLimit;
}

/// No ingress reads its shares any more: the kernel gives their flows to the port's others.
void Fleet::give_up_queue(const Post& post) const {
  const PlanStream& mine = plan_.streams.at(plan_.actors.at(post.seat().actor).index);
  const std::vector<std::uint32_t> ingresses = ingresses_of_port(plan_, mine.port);
  for (std::uint32_t share = 0; share < ingresses.size(); ++share) {
    if (!status_ || status_->share_reader(ingresses[share]) != mine.ingress) continue;
    discard_kept(place_.run_dir, kept_file_name(plan_.ports.at(mine.port), share));
  }
  if (status_) ShareWords(plan_).wait_no_more(mine.port, mine.ingress);
}

void Fleet::tend_wanted(Post& post, Clock::time_point now) {
  if (post.policy.given_up() && !post.reported) {
    post.reported = true;
    if (post.kind == ActorKind::kIngress) give_up_queue(post);
    say(Severity::kError, "given_up", post.seat(),
        post.name + " ended too often and is not started again; last: " + post.seat().note,
        post.policy.restarts());
  }
  if (hangs_at_its_start(post, now)) post.seat().child->signal(SIGKILL);
  const auto at = seat_to_start(
      post, [&](const Seat& seat) { return state(seat); }, now,
      !post_of(ActorKind::kHub).seat().child);
  if (!at) return;
  // The process in the other seat may hang; for the policy it has ended.
  if (post.seat().child) post.policy.ended(now);
  post.current = *at;
  try {
    start(post);
    const std::uint32_t restarts = post.policy.restarts();
    if (restarts == 0) {
      say(Severity::kInfo, "worker_started", post.seat(), post.name + " starts");
    } else {
      say(Severity::kInfo, "worker_restarted", post.seat(), post.name + " starts again", restarts);
    }
  } catch (const Error& error) {
    post.policy.ended(now);
    ++post.failed_starts;
    post.seat().note = std::string("could not be started (") + error.what() + ")";
    say(Severity::kError, "start_failed", post.seat(), error.what());
  }
}

void Fleet::let_drain(Post& post, std::chrono::milliseconds grace) {
  post.wish = Wish::kDraining;
  post.drain = Patience(grace + kKillAfterTerm);
}

bool Fleet::any_running(const std::function<bool(const Post&)>& which) {
  reap();
  return std::any_of(posts_.begin(), posts_.end(), [&](const Post& post) {
    return which(post) && std::any_of(post.seats.begin(), post.seats.end(),
                                      [](const Seat& seat) { return seat.child.has_value(); });
  });
}

void Fleet::stop(const std::function<bool(const Post&)>& which, std::chrono::milliseconds grace) {
  const auto signal_all = [&](int number) {
    for (Post& post : posts_) {
      if (!which(post)) continue;
      post.wish = Wish::kDown;
      for (const Seat& seat : post.seats) {
        if (seat.next) seat.next->signal(number);
        if (!seat.child) continue;
        if (number == SIGKILL)
          say(Severity::kWarning, "killed", seat, post.name + " had to be killed");
        seat.child->signal(number);
      }
    }
  };
  const auto wait = [&](std::chrono::milliseconds limit) {
    Patience patience(limit);
    while (any_running(which) && !patience.is_over()) {
      std::vector<pollfd> items;
      for (int descriptor : descriptors()) items.push_back({descriptor, POLLIN, 0});
      ::poll(items.data(), items.size(), 20);
    }
  };
  signal_all(SIGTERM);
  wait(grace);
  if (!any_running(which)) return;
  signal_all(SIGKILL);
  wait(kExitAfterKill);
}

std::vector<int> Fleet::descriptors() const {
  std::vector<int> descriptors;
  for (const Post& post : posts_) {
    for (const Seat& seat : post.seats) {
      if (seat.child) descriptors.push_back(seat.child->descriptor());
      if (seat.next) descriptors.push_back(seat.next->descriptor());
    }
  }
  return descriptors;
}

bool Fleet::is_busy() const {
  const StateOf state_of = [&](const Seat& seat) { return state(seat); };
  return std::any_of(posts_.begin(), posts_.end(), [&](const Post& post) {
    if (post.wish == Wish::kDraining) return true;
    return post.wish == Wish::kUp && post.kind != ActorKind::kHub && is_lost(post, state_of) &&
           !post.policy.given_up();
  });
}

std::size_t Fleet::process_count() const { return descriptors().size(); }

}  // namespace millrace
