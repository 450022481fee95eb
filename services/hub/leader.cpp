// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/hub/leader.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "services/hub/audit.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/base/say.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/neighbour_look.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kChoresIntervalNs = 1'000'000'000;
constexpr int kAuditTries = 10;
constexpr std::chrono::milliseconds kAuditPause{20};
constexpr std::chrono::milliseconds kRequestWait{100};  // between two looks whether to end

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
      run_dir_(run_dir),
      control_(control),
      chores_(std::move(chores)),
      recovery_(
          context, processes_, limits_of(*context.plan),
          [this](const RecoveryEvent& event) { tell(event); }, drivers),
      lost_batches_(run_dir),
      functions_(kFunctionPlaceMax, context.plan->crash_limit),
      server_(run_dir, endpoint),
      neighbours_(context, run_dir,
                  [this](const std::string& what) {
                    post(Severity::kWarning, "neighbours_not_followed",
                         "neighbours of the kernel: " + what, 0);
                  }),
      server_thread_([this] { serve(); }) {
  recovery_.on_lost([this](const LostBatch& lost) { look_at(lost); });
}

Leader::~Leader() {
  ending_ = true;
  server_thread_.join();
}

void Leader::post(Severity severity, std::string_view kind, std::string_view text,
                  std::uint64_t number) {
  const std::lock_guard lock(events_);
  control_.post_event(severity, kind, text, number);
}

void Leader::tell(const RecoveryEvent& event) {
  MILLRACE_CHECK(event.actor < context_.plan->actors.size());
  const std::string& name = context_.plan->actors[event.actor].name;
  // 0: no number; shown, it would be read as an exit status.
  const std::string number = event.number == 0 ? "" : " (" + std::to_string(event.number) + ")";
  const std::string text = name + " " + event.what + number;
  say(context_.plan->actors[context_.me.actor].name, text);
  post(Severity::kWarning, event.what, text, event.number);
}

Plan Leader::plan_now() const {
  try {
    return load_plan(plan_path(run_dir_));
  } catch (const Error& error) {
    say(context_.plan->actors[context_.me.actor].name, error.what());
    return *context_.plan;
  }
}

std::string Leader::name_of(std::uint32_t function) const {
  const Plan plan = plan_now();
  if (function < plan.functions.size()) return plan.functions[function].name;
  return std::to_string(function);
}

void Leader::look_at(const LostBatch& lost) {
  const Plan& plan = *context_.plan;
  const bool known = lost.function != kNoFunction;
  MILLRACE_CHECK(lost.actor < plan.actors.size() && (!known || lost.function < kFunctionPlaceMax));
  const std::string where = known ? " in " + name_of(lost.function) : "";
  try {
    lost_batches_.keep(lost.batch, plan.actors[lost.actor].name + " died" + where);
  } catch (const Error& error) {
    say(plan.actors[context_.me.actor].name, error.what());  // the packets are lost either way
  }
  if (!known || !lost.by_itself || !functions_.died(lost.function, monotonic_ns())) return;
  take_out(lost.function, std::to_string(plan.crash_limit) + " workers died in it");
}

void Leader::take_out(std::uint32_t function, const std::string& why) {
  MILLRACE_CHECK(function < kFunctionPlaceMax);  // a bit of one word
  context_.status.header().functions_out.fetch_or(std::uint64_t{1} << function);
  const std::string text = "function " + name_of(function) + " is out of service: " + why;
  say(context_.plan->actors[context_.me.actor].name, text);
  post(Severity::kError, "function_out", text, function);
}

void Leader::set_service(const Received& request, const SetService& wish) {
  if (wish.function >= kFunctionPlaceMax) {
    server_.reply(request, ErrorReply{"no function " + std::to_string(wish.function) +
                                      "; allowed: 0.." + std::to_string(kFunctionPlaceMax - 1)});
    return;
  }
  if (wish.out) {
    take_out(wish.function, "asked for");
  } else {
    context_.status.header().functions_out.fetch_and(~(std::uint64_t{1} << wish.function));
    post(Severity::kInfo, "function_in",
         "function " + name_of(wish.function) + " is back in service", wish.function);
  }
  server_.reply(request, OkReply{});
}

void Leader::lead(const std::atomic<bool>& stop) {
  const auto pid = static_cast<std::uint64_t>(getpid());
  context_.status.header().leader = process_start_time(getpid()) << 24 | pid;
  recovery_.take_the_lead();
  std::uint64_t chores_at_ns = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    context_.my_entry().heartbeat_tsc.store(tsc_now(), std::memory_order_relaxed);
    obey_drains();
    const int wait_ms = recovery_.tick();
    if (monotonic_ns() - chores_at_ns > kChoresIntervalNs) {
      chores_at_ns = monotonic_ns();
      neighbours_.look();
      count_neighbours_here();
      const std::lock_guard lock(events_);  // chores tell of links
      if (chores_) chores_();
    }
    if (wait_ms > 0) processes_.wait_for_exit(wait_ms);
  }
}

void Leader::count_neighbours_here() const {
  StatusHeader& header = context_.status.header();
  const NeighbourTableView table = context_.segment.neighbours();
  const TscScale scale(header.tsc_hz);
  const std::uint64_t now_ms = neighbour_ms(scale.ns_between(header.tsc_origin, tsc_now()));
  const NeighbourCounts counts = count_neighbours(table, now_ms);
  static_assert(std::size(decltype(header.neighbours){}) == kNeighbourLookCount);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    header.neighbours[i].store(counts[i], std::memory_order_relaxed);
  }
  header.neighbours_evicted.store(table.evicted_count(), std::memory_order_relaxed);
  header.neighbours_refused.store(table.full_count(), std::memory_order_relaxed);
}

void Leader::obey_drains() {
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t actor : drains_) {
    MILLRACE_CHECK(actor < context_.plan->actors.size());  // answer() has refused others
    recovery_.drain(actor);
  }
  drains_.clear();
}

void Leader::serve() {
  while (!ending_) {
    const auto request = server_.receive(kRequestWait);
    if (request) answer(*request);
    count_refused();
  }
}

AuditReply Leader::settled_audit() {
  const Plan plan = plan_now();
  for (int tries = 1;; ++tries) {
    const std::uint64_t received = received_packets(context_);
    AuditReply reply = audit(context_, census_of(context_), received, plan.reasons);
    if (reply.exact || !reply.quiet || tries == kAuditTries) return reply;
    std::this_thread::sleep_for(kAuditPause);
  }
}

/// Adds to the count of the leaders before.
void Leader::count_refused() {
  const std::uint64_t now = server_.refused_count();
  MILLRACE_CHECK(now >= refused_);
  if (now == refused_) return;
  context_.status.header().control_refused.fetch_add(now - refused_, std::memory_order_relaxed);
  refused_ = now;
}

void Leader::answer(const Received& request) {
  const ControlBody& body = request.message.body;
  if (std::holds_alternative<AuditRequest>(body)) {
    server_.reply(request, settled_audit());
  } else if (const auto* drain = std::get_if<Drain>(&body)) {
    if (drain->actor >= context_.plan->actors.size()) {
      server_.reply(request,
                    ErrorReply{"no actor " + std::to_string(drain->actor) + "; allowed: 0.." +
                               std::to_string(context_.plan->actors.size() - 1)});
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      drains_.push_back(drain->actor);
    }
    server_.reply(request, OkReply{});
  } else if (const auto* service = std::get_if<SetService>(&body)) {
    set_service(request, *service);
  } else if (request.message.id != 0) {
    server_.reply(request,
                  ErrorReply{std::string("`") + message_name(body) + "` is not for the leader"});
  }
}

}  // namespace millrace
