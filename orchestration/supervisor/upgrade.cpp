// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/upgrade.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "orchestration/supervisor/programs.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"
#include "shared/control/actor_process.hpp"

namespace millrace {
namespace {

using Kind = UpgradeStep::Kind;

constexpr std::chrono::milliseconds kAskToLeaveAgain{1'000};  // the leader may be another by then
constexpr std::uint64_t kBeatMs = 1'000;                      // a heartbeat not older than that

std::string seconds_text(Upgrade::Clock::duration time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", std::chrono::duration<double>(time).count());
  return text.data();
}

std::string not_up_in(Upgrade::Clock::duration limit) {
  return "does not come up within " + seconds_text(limit);
}

bool moves_ports(const Post& post) {
  return post.kind == ActorKind::kIngress || post.kind == ActorKind::kEgress;
}

pid_t pid_of(const Seat& seat) { return seat.child ? seat.child->pid() : 0; }

}  // namespace

Upgrade::Upgrade(const Plan& plan, Fleet& fleet, Means means)
    : plan_(plan), fleet_(fleet), means_(std::move(means)) {}

void Upgrade::begin(const std::string& folder) {
  MILLRACE_CHECK(idle());
  UpgradePlan plan = plan_upgrade(plan_, fleet_.posts(), words_for_run(plan_.name, means_.run_dir));
  folder_ = folder;
  steps_ = std::move(plan.steps);
  for (const UpgradeStep& step : steps_) {
    MILLRACE_CHECK(step.post < fleet_.posts().size());
    if (step.kind == Kind::kDrain) fleet_.posts()[step.post].helper = true;
  }
  lines_ = std::move(plan.remarks);
  at_ = 0;
  phase_ = Phase::kBegin;
  running_ = true;
}

std::optional<Upgrade::Outcome> Upgrade::tend(Clock::time_point now) {
  if (idle()) return std::nullopt;
  try {
    if (at_ < steps_.size() && step(now)) finish_step();
  } catch (const Error& error) {
    return fail(error.what());
  }
  if (at_ < steps_.size()) return std::nullopt;
  running_ = false;
  for (Post& post : fleet_.posts()) {
    post.folder.clear();
    post.helper = false;
  }
  fleet_.use_folder(folder_);
  return Outcome{"", std::exchange(lines_, {})};
}

/// True when the step is done.
bool Upgrade::step(Clock::time_point now) {
  MILLRACE_CHECK(at_ < steps_.size());
  switch (phase_) {
    case Phase::kBegin:
      begin_step(now);
      return false;
    case Phase::kWaits:
      if (wait_for_successor(now)) let_go(now);
      return false;
    case Phase::kLeaves:
      return wait_for_end(now);
    case Phase::kProves:
      return prove(now);
  }
  return false;
}

void Upgrade::enter(Phase phase, Clock::time_point now) {
  phase_ = phase;
  since_ = now;
}

std::string Upgrade::failure(const std::string& what) const {
  const std::string& name = fleet_.name_of(post());
  const std::string log = log_tail(means_.run_dir, name);
  return name + " of " + folder_ + " " + what + (log.empty() ? "" : "\n" + log);
}

void Upgrade::begin_step(Clock::time_point now) {
  Post& one = post();
  old_pid_ = pid_of(one.seat());
  new_pid_ = 0;
  old_folder_ = one.folder;
  up_.reset();
  left_at_ = now;
  if (moves_ports(one)) means_.forget_ready(one.seat().actor);
  switch (steps_[at_].kind) {
    case Kind::kReplace:
      return begin_replacement(now);
    case Kind::kEnd:
      return begin_end(now);
    case Kind::kStart:
      one.replacing = true;
      one.folder = folder_;
      one.policy.allow();
      fleet_.start(one);
      new_pid_ = pid_of(one.seat());
      return enter(Phase::kProves, now);
    case Kind::kDrain:
      if (one.seat().child) means_.ask_drain(one.seat().actor);
      fleet_.let_drain(one, means_.drain_limit);
      ask_again_ = now + kAskToLeaveAgain;
      return enter(Phase::kLeaves, now);
  }
}

void Upgrade::begin_replacement(Clock::time_point now) {
  Post& one = post();
  if (!one.seat().child) {
    throw Error(one.name + " does not run, so it cannot be replaced; why: millrace status " +
                words_for_run(plan_.name, means_.run_dir));
  }
  ::unlink(waiting_path(means_.run_dir, one.seat().actor).c_str());
  fleet_.start_successor(one, folder_);
  new_pid_ = one.seat().next->pid();
  one.replacing = true;
  enter(Phase::kWaits, now);
}

void Upgrade::begin_end(Clock::time_point now) {
  Post& one = post();
  one.replacing = true;
  if (one.seat().child) one.seat().child->signal(SIGTERM);
  enter(Phase::kLeaves, now);
}

/// True when the successor has all it needs but the place.
bool Upgrade::wait_for_successor(Clock::time_point now) {
  const Seat& seat = post().seat();
  // The old process may have ended by itself since: then the successor has its place already.
  const bool there = (seat.next && seat.next->pid() == new_pid_) || pid_of(seat) == new_pid_;
  if (!there) throw Error(failure("ended at its start"));
  if (std::filesystem::exists(waiting_path(means_.run_dir, seat.actor))) return true;
  if (now - since_ > means_.start_limit) throw Error(failure(not_up_in(means_.start_limit)));
  return false;
}

void Upgrade::let_go(Clock::time_point now) {
  const Seat& seat = post().seat();
  left_at_ = now;
  ask_again_ = now + kAskToLeaveAgain;
  if (pid_of(seat) == old_pid_) {
    if (steps_[at_].drain) {
      means_.ask_drain(seat.actor);
    } else {
      seat.child->signal(SIGTERM);
    }
  }
  enter(Phase::kLeaves, now);
}

/// kReplace goes on with what follows; for the others the step is done.
bool Upgrade::wait_for_end(Clock::time_point now) {
  Post& one = post();
  const Seat& seat = one.seat();
  const Kind kind = steps_[at_].kind;
  if (pid_of(seat) != old_pid_ || !seat.child) {
    if (kind == Kind::kReplace) {
      if (pid_of(seat) != new_pid_) throw Error(failure("ended before it had its place"));
      if (moves_ports(one)) means_.forget_ready(seat.actor);  // the old process went on saying it
      enter(Phase::kProves, now);
      return false;
    }
    const bool recovered =
        seat.actor == kNoActor || fleet_.state(seat) == ActorState::kVacant || kind == Kind::kDrain;
    if (recovered) return true;
    if (now - since_ > means_.start_limit) {
      throw Error(one.name + " is not recovered within " + seconds_text(means_.start_limit));
    }
    return false;
  }
  const bool drains = steps_[at_].drain || kind == Kind::kDrain;
  const auto limit = drains ? means_.drain_limit : Clock::duration::zero();
  if (drains && now < since_ + limit) {
    if (now >= ask_again_ && fleet_.state(seat) == ActorState::kAlive) {
      ask_again_ = now + kAskToLeaveAgain;
      means_.ask_drain(seat.actor);
    }
  } else if (now > since_ + limit + means_.end_limit) {
    seat.child->signal(SIGKILL);
  } else if (drains) {
    seat.child->signal(SIGTERM);
  }
  return false;
}

bool Upgrade::is_up() const {
  const Seat& seat = post().seat();
  if (seat.actor == kNoActor) return true;
  if (fleet_.state(seat) != ActorState::kAlive || fleet_.status() == nullptr) return false;
  const StatusSource::Facts facts = fleet_.status()->facts(seat.actor);
  if (facts.pid != new_pid_ || facts.heartbeat_age_ms > kBeatMs) return false;
  return !moves_ports(post()) || means_.is_ready(seat.actor);
}

bool Upgrade::prove(Clock::time_point now) {
  if (pid_of(post().seat()) != new_pid_) throw Error(failure("ended when it had begun"));
  if (!is_up()) {
    up_.reset();
    if (now - since_ > means_.start_limit) throw Error(failure(not_up_in(means_.start_limit)));
    return false;
  }
  if (!up_) up_ = now;
  return now - *up_ >= means_.proof;
}

void Upgrade::finish_step() {
  Post& one = post();
  const std::uint32_t actor = one.seat().actor;
  const std::string& name = fleet_.name_of(one);
  if (steps_[at_].kind == Kind::kReplace || steps_[at_].kind == Kind::kStart) {
    one.folder = folder_;
    one.replacing = false;
    MILLRACE_CHECK(up_);
    if (steps_[at_].kind == Kind::kReplace) {
      lines_.push_back(name + ": replaced; it was away for at most " +
                       seconds_text(*up_ - left_at_));
    } else {
      lines_.push_back(name + ": started anew");
    }
  }
  if (actor != kNoActor) ::unlink(waiting_path(means_.run_dir, actor).c_str());
  ++at_;
  phase_ = Phase::kBegin;
}

/// A helper that was started is not kept.
void Upgrade::send_away(Post& helper) {
  if (!helper.seat().child) {
    helper.wish = Wish::kDown;
    return;
  }
  try {
    means_.ask_drain(helper.seat().actor);
  } catch (const Error&) {
    // There is no leader now; it is ended when its time is up.
  }
  fleet_.let_drain(helper, means_.drain_limit);
}

/// What has been replaced stays; what failed goes back to the folder it had.
Upgrade::Outcome Upgrade::fail(const std::string& why) {
  Post& failed = post();
  failed.folder = old_folder_;
  if (failed.seat().next) failed.seat().next->signal(SIGTERM);
  if (new_pid_ != 0 && pid_of(failed.seat()) == new_pid_) failed.seat().child->signal(SIGKILL);
  std::size_t done = 0;
  for (std::size_t i = 0; i < at_; ++i) {
    if (steps_[i].kind == Kind::kReplace || steps_[i].kind == Kind::kStart) ++done;
  }
  for (std::size_t i = at_; i < steps_.size(); ++i) {
    Post& helper = fleet_.posts()[steps_[i].post];
    if (steps_[i].kind == Kind::kDrain && helper.wish == Wish::kUp) send_away(helper);
  }
  for (Post& one : fleet_.posts()) one.replacing = one.helper = false;
  running_ = false;
  lines_.clear();
  return {why +
              "\nthe upgrade has stopped; what has not been replaced goes on as before; of the new "
              "build: " +
              std::to_string(done) + " processes",
          {}};
}

}  // namespace millrace
