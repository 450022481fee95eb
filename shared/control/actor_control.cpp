// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/actor_control.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <memory>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/control/endpoint.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kReadyAgain{2000};
constexpr std::size_t kUntoldMax = 64;  // events that wait while the supervisor is away
constexpr std::chrono::milliseconds kEventDelay{100};  // posting does not wake: it may not block

template <std::size_t N>
void copy_text(std::array<char, N>& to, std::string_view from) noexcept {
  const std::size_t length = std::min(from.size(), N - 1);
  std::copy_n(from.data(), length, to.data());
  to[length] = '\0';
}

Event refusal_event(std::uint32_t actor, std::uint32_t revision, const std::string& why) {
  return {.severity = Severity::kError,
          .kind = kPlanRefused,
          .actor = actor,
          .text = why,
          .number = revision,
          .time_ns = system_clock_ns()};
}

Event lost_event(std::uint32_t actor, std::uint64_t number) {
  return {.severity = Severity::kWarning,
          .kind = kEventsLost,
          .actor = actor,
          .text = std::to_string(number) + " events were lost: too many, or no supervisor to hear",
          .number = number,
          .time_ns = system_clock_ns()};
}

}  // namespace

/// What the supervisor has been told. Ready is said again from time to time: the supervisor may
/// have been replaced in between, which no connection tells.
class ActorControl::Talk {
 public:
  /// `dropped`: borrowed, events that were not told.
  Talk(const std::string& run_dir, std::uint32_t actor, std::atomic<std::uint64_t>& dropped)
      : client(run_dir, kSupervisorEndpoint, actor_peer(actor)), actor_(actor), dropped_(dropped) {}

  void tell_ready() noexcept {
    const auto now = Clock::now();
    if (now >= ready_next_ && client.send(Ready{actor_})) ready_next_ = now + kReadyAgain;
  }

  void tell(const Event& event) {
    if (untold_.size() == kUntoldMax) {
      untold_.pop_front();
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
    untold_.push_back(event);
    MILLRACE_CHECK(untold_.size() <= kUntoldMax);
  }

  /// A supervisor that is not there now gets them when it is.
  void tell_events() noexcept {
    while (!untold_.empty() && client.send(untold_.front())) untold_.pop_front();
    if (untold_.empty()) tell_dropped();
  }

  ControlClient client;

 private:
  void tell_dropped() noexcept {
    const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed);
    if (dropped == dropped_told_) return;
    const std::uint64_t number = dropped - dropped_told_;
    if (client.send(lost_event(actor_, number))) dropped_told_ = dropped;
  }

  const std::uint32_t actor_;
  std::atomic<std::uint64_t>& dropped_;
  std::uint64_t dropped_told_ = 0;
  Clock::time_point ready_next_{};
  std::deque<Event> untold_;
};

ActorControl::ActorControl(const std::string& run_dir, std::uint32_t actor, WatchPoint* watch,
                           std::vector<PlanFollower*> followers)
    : run_dir_(run_dir),
      actor_(actor),
      watch_(watch),
      followers_(std::move(followers)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  MILLRACE_CHECK(std::ranges::find(followers_, nullptr) == followers_.end());
  if (!wake_) throw system_error("eventfd of the control thread", errno);
  auto talk = std::make_shared<Talk>(run_dir, actor, dropped_);
  // Signals belong to the data thread: a handler there ends its sleep.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, talk] { run(*talk); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "control");
}

ActorControl::~ActorControl() {
  ending_.store(true, std::memory_order_release);
  wake();
  thread_.join();
}

void ActorControl::keep_to(std::span<const std::uint32_t> cores) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t core : cores) CPU_SET(core, &set);
  static_cast<void>(::pthread_setaffinity_np(thread_.native_handle(), sizeof set, &set));
}

void ActorControl::wake() noexcept {
  const std::uint64_t one = 1;
  // An eventfd that is full cannot be written to, and wakes all the same.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void ActorControl::set_ready() noexcept {
  ready_.store(true, std::memory_order_relaxed);
  wake();
}

void ActorControl::post_event(Severity severity, std::string_view kind, std::string_view text,
                              std::uint64_t number) noexcept {
  PostedEvent event{.severity = severity, .number = number, .time_ns = system_clock_ns()};
  copy_text(event.kind, kind);
  copy_text(event.text, text);
  if (!events_.post(event)) dropped_.fetch_add(1, std::memory_order_relaxed);
}

void ActorControl::run(Talk& talk) noexcept {
  for (bool last = false; !last;) {
    last = ending_.load(std::memory_order_acquire);
    if (watch_ != nullptr) watch_->look();
    if (ready_.load(std::memory_order_relaxed)) talk.tell_ready();
    for (PostedEvent event; events_.take(event);) {
      talk.tell({.severity = event.severity,
                 .kind = event.kind.data(),
                 .actor = actor_,
                 .text = event.text.data(),
                 .number = event.number,
                 .time_ns = event.time_ns});
    }
    talk.tell_events();
    while (auto message = talk.client.receive()) obey(message->body, talk);
    for (PlanFollower* follower : followers_) follower->tend();
    if (!last) ControlClient::wait({&talk.client, 1}, wake_.get(), kEventDelay);
    std::uint64_t wakes = 0;
    [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &wakes, sizeof wakes);
  }
}

void ActorControl::follow_plan(std::uint32_t revision, Talk& talk) noexcept {
  try {
    const Plan plan = load_plan(plan_path(run_dir_));
    // An older one than was asked for is followed too: its writer will say so again.
    for (PlanFollower* follower : followers_) follower->follow(plan);
  } catch (const std::exception& error) {
    talk.tell(refusal_event(actor_, revision, error.what()));
  }
}

void ActorControl::obey(const ControlBody& command, Talk& talk) noexcept {
  if (const auto* follow = std::get_if<FollowPlan>(&command)) follow_plan(follow->revision, talk);
}

}  // namespace millrace
