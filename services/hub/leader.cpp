// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/leader.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "services/hub/audit.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/process.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kChoresIntervalNs = 1'000'000'000;

RecoveryLimits limits_of(const Plan& plan) {
  RecoveryLimits limits;
  limits.heartbeat_limit_ns = plan.heartbeat_limit_ms * 1'000'000ull;
  limits.ack_limit_ns = limits.heartbeat_limit_ns;
  return limits;
}

}  // namespace

Leader::Leader(const ActorContext& context, const std::string& run_dir, const char* endpoint,
               ActorControl& control, DriverQueues* drivers, std::function<void()> chores)
    : context_(context),
      control_(control),
      chores_(std::move(chores)),
      recovery_(
          context, processes_, limits_of(*context.plan),
          [this](const RecoveryEvent& event) { tell(event); }, drivers),
      server_(run_dir, endpoint),
      server_thread_([this] { serve(); }) {}

Leader::~Leader() {
  ending_ = true;
  server_thread_.join();
}

void Leader::tell(const RecoveryEvent& event) {
  const std::string& name = context_.plan->actors[event.actor].name;
  const std::string text = name + " " + event.what + " (" + std::to_string(event.number) + ")";
  std::fprintf(stderr, "%s: %s\n", context_.plan->actors[context_.me.actor].name.c_str(),
               text.c_str());
  control_.post_event(Severity::kWarning, event.what, text, event.number);
}

void Leader::lead(const std::atomic<bool>& stop) {
  const auto pid = static_cast<std::uint64_t>(getpid());
  context_.status.header().leader = process_start_time(getpid()) << 24 | pid;
  std::uint64_t chores_at_ns = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    context_.my_entry().heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
    obey_drains();
    const int wait_ms = recovery_.tick();
    if (chores_ && monotonic_ns() - chores_at_ns > kChoresIntervalNs) {
      chores_at_ns = monotonic_ns();
      chores_();
    }
    if (wait_ms > 0) processes_.wait_for_exit(wait_ms);
  }
}

void Leader::obey_drains() {
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t actor : drains_) recovery_.drain(actor);
  drains_.clear();
}

void Leader::serve() {
  while (!ending_) {
    const auto request = server_.receive(std::chrono::milliseconds(100));
    if (request) answer(*request);
  }
}

void Leader::answer(const Received& request) {
  const ControlBody& body = request.message.body;
  if (std::holds_alternative<AuditRequest>(body)) {
    server_.reply(request, audit(context_, recovery_.census()));
  } else if (const auto* drain = std::get_if<Drain>(&body)) {
    if (drain->actor >= context_.plan->actors.size()) {
      server_.reply(request, ErrorReply{"no actor " + std::to_string(drain->actor)});
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      drains_.push_back(drain->actor);
    }
    server_.reply(request, OkReply{});
  }
}

}  // namespace millrace
