// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/secrets.hpp"
#include "shared/config/plan_diff.hpp"
#include "shared/config/plan_names.hpp"
#include "shared/config/plan_sources.hpp"
#include "shared/control/plan_file.hpp"

// What changes in a running topology: requests wait in a row, one is dealt with at a time.

namespace millrace {
namespace {

constexpr std::size_t kChangesWaitingMax = 64;
constexpr std::chrono::seconds kLook{1};  // of autoscale

/// The functions whose tables are to be built anew, as they are set now.
std::vector<PlanEdition> reloaded(const Plan& plan, const std::vector<std::string>& names) {
  std::vector<PlanEdition> functions;
  for (const std::string& name : names) {
    const std::uint32_t number = function_named(plan, name);
    const PlanFunction& function = plan.functions[number];
    if (function.image.empty()) {
      throw Error("function '" + name + "' (" + function.type + ") has no table");
    }
    const auto same = [&](const PlanEdition& one) { return one.number == number; };
    if (std::ranges::none_of(functions, same)) functions.push_back({number, function});
  }
  return functions;
}

/// What is in their files now is what they were built from.
void note_sources(Plan& plan, const std::vector<std::string>& functions) {
  for (const std::string& name : functions) {
    const PlanFunction& function = plan.functions[function_named(plan, name)];
    for (std::string& source : plan.sources) {
      const std::string path = path_of_source(source);
      const auto is_it = [&](const auto& setting) { return setting.second == path; };
      if (std::ranges::any_of(function.settings, is_it)) source = source_of(path);
    }
  }
}

std::string line_of(const TableReport& report) {
  return "table of " + report.function + ": " + std::to_string(report.accepted) + " entries, " +
         std::to_string(report.refused) + " refused";
}

}  // namespace

void Supervisor::queue_change(const Received& received) {
  if (phase_ == "starting" || phase_ == "stopping") {
    server_->reply(received, ErrorReply{"the topology is " + phase_});
  } else if (change_queue_.size() >= kChangesWaitingMax) {
    server_->reply(received, ErrorReply{"too many changes wait already"});
  } else {
    change_queue_.push_back(received);
  }
}

bool Supervisor::is_changing() const {
  return change_ || !change_queue_.empty() || !tables_->idle() || !scaling_->idle() ||
         !upgrade_->idle() || !growth_->idle();
}

void Supervisor::end_change(const std::string& error) {
  const Received request = std::move(change_->request);
  const auto& wanted = std::get<ChangeRequest>(request.message.body);
  std::string why = error;
  if (!why.empty()) scaling_->forget();
  try {
    if (why.empty()) adopt_change(wanted);
  } catch (const std::exception& failure) {
    why = failure.what();
  }
  ChangeReply reply = std::move(change_->reply);
  change_.reset();
  const bool tables = !wanted.reload.empty() || !wanted.plan.empty();
  if (tables) ++(why.empty() ? reloads_done_ : reloads_failed_);
  why = without_secrets(std::move(why), plan_.secrets);
  if (!why.empty()) {
    note({.severity = Severity::kError,
          .kind = "change_failed",
          .text = wanted.what + ": " + why,
          .time_ns = system_clock_ns()});
    if (request.message.id != 0) server_->reply(request, ErrorReply{why});
    return;
  }
  reply.generation = plan_.generation;
  note({.kind = "changed",
        .text = wanted.what,
        .number = plan_.generation,
        .time_ns = system_clock_ns()});
  if (request.message.id != 0) server_->reply(request, std::move(reply));
}

TableSwitch::Wish Supervisor::wish_of(const ChangeRequest& wanted) {
  change_->scale = scaling_->check(wanted.scale);
  return {reloaded(plan_, wanted.reload), wanted.accept_refused};
}

/// From the present plan to another one, as far as that can be while it runs.
TableSwitch::Wish Supervisor::wish_to_apply(const ChangeRequest& wanted) {
  Plan next = load_plan(wanted.plan);
  const PlanDiff diff = diff_plans(plan_, next);
  if (!diff.restart.empty()) {
    std::string text = "cannot change while it runs:";
    for (const std::string& line : diff.restart) text += "\n  " + line;
    throw Error(text);
  }
  if (!diff.queues.empty()) {
    if (diff.lines.size() != diff.queues.size()) {
      throw Error("queues are added by a change of their own: apply the rest before or after it");
    }
    if (wanted.confirm_seconds != 0) {
      throw Error("--confirm: queues that were added cannot be taken away while it runs");
    }
    change_->queues = diff.queues;
  }
  std::vector<GroupCount> counts;
  for (const PlanDiff::Count& count : diff.counts) {
    counts.push_back({plan_.groups[count.group].name, count.after});
  }
  change_->scale = scaling_->check(counts);
  TableSwitch::Wish wish{.accept_refused = wanted.accept_refused};
  for (const std::uint32_t number : diff.functions) {
    wish.functions.push_back({number, plan_.functions[number]});
    wish.functions.back().function.settings = next.functions[number].settings;
  }
  for (const std::string& secret : next.secrets) {
    if (std::ranges::find(plan_.secrets, secret) == plan_.secrets.end()) {
      plan_.secrets.push_back(secret);
    }
  }
  change_->reply.lines = diff.lines;
  change_->next = std::move(next);
  return wish;
}

void Supervisor::begin_change() {
  change_ = PendingChange{.request = std::move(change_queue_.front())};
  change_queue_.pop_front();
  const auto& wanted = std::get<ChangeRequest>(change_->request.message.body);
  try {
    if (deadline_ && !wanted.rollback) {
      throw Error("the last change waits to be confirmed: millrace confirm " + plan_.name +
                  ", or millrace rollback " + plan_.name);
    }
    if (!wanted.upgrade.empty()) return upgrade_->begin(wanted.upgrade);
    TableSwitch::Wish wish = wanted.plan.empty() ? wish_of(wanted) : wish_to_apply(wanted);
    if (!wish.functions.empty()) return tables_->begin(std::move(wish));
    if (!change_->queues.empty()) return growth_->begin(std::move(change_->queues));
    begin_scaling();
  } catch (const Error& error) {
    end_change(error.what());
  }
}

/// The plan says what is now: of it a supervisor that takes over learns it, and the history.
void Supervisor::adopt_change(const ChangeRequest& wanted) {
  if (change_->next) {
    plan_.sources = change_->next->sources;
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      plan_.groups[i].autoscale = change_->next->groups[i].autoscale;
    }
  } else if (!wanted.reload.empty()) {
    note_sources(plan_, wanted.reload);
  }
  plan_.hash = hash_of_sources(plan_.sources);
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
    if (!plan_.fused) plan_.groups[group].count = scaling_->wanted_count(group);
  }
  for (const Post& post : fleet_.posts()) {
    if (!is_worker(post) && post.kind != ActorKind::kIngress) continue;
    plan_.actors[post.seats[0].actor].at_start = post.wish == Wish::kUp;
  }
  const std::uint64_t before = plan_.generation++;
  save_plan(plan_, options_.run_dir + "/plan.bin");
  history_->add(plan_, wanted.what, system_clock_ns());
  deadline_.reset();
  if (wanted.confirm_seconds != 0) {
    deadline_ = {system_clock_ns() + wanted.confirm_seconds * 1'000'000'000ull, before};
  }
  history_->set_deadline(deadline_);
}

void Supervisor::confirm(const Received& received) {
  if (!deadline_) {
    server_->reply(received, ErrorReply{"no change waits to be confirmed"});
    return;
  }
  deadline_.reset();
  history_->set_deadline(std::nullopt);
  note({.kind = "confirmed",
        .text = "generation " + std::to_string(plan_.generation) + " stays",
        .number = plan_.generation,
        .time_ns = system_clock_ns()});
  server_->reply(received, OkReply{});
}

/// Nobody confirmed the last change: whoever made it may have lost the way to us by it.
void Supervisor::tend_deadline() {
  if (!deadline_ || is_changing() || system_clock_ns() < deadline_->time_ns) return;
  const std::uint64_t generation = deadline_->generation;
  deadline_.reset();
  history_->set_deadline(std::nullopt);
  try {
    const std::string path = options_.run_dir + "/plan.bin.back";
    save_plan(history_->plan_of(generation), path);
    ChangeRequest back{.plan = path, .accept_refused = true, .rollback = true};
    back.what = "taken back to " + std::to_string(generation) + ", as nobody confirmed it";
    change_queue_.push_back({.peer = "", .message = {.id = 0, .body = std::move(back)}});
  } catch (const Error& error) {
    note({.severity = Severity::kError,
          .kind = "change_failed",
          .text = std::string("take back what was not confirmed: ") + error.what(),
          .time_ns = system_clock_ns()});
  }
}

/// Looks at groups with `autoscale:`; a change of theirs waits in the row like any other.
void Supervisor::tend_autoscale() {
  const auto now = Clock::now();
  if (now < next_look_ || fleet_.status() == nullptr || phase_ != "running") return;
  next_look_ = now + kLook;
  const bool busy = is_changing() || deadline_;
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
    const PlanAutoscale& limits = plan_.groups[group].autoscale;
    if (autoscalers_.size() <= group) autoscalers_.emplace_back(limits);
    Autoscaler& scaler = autoscalers_[group];
    if (scaler.limits() != limits) scaler = Autoscaler(limits);
    if (busy) scaler.forget();
    if (busy || limits.min == 0) continue;
    std::vector<Autoscaler::Spent> workers;
    for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
      const PlanActor& one = plan_.actors[actor];
      if (!is_of_group(one.kind) || one.group != group || fleet_.state(actor) != ActorState::kAlive)
        continue;
      const StatusSource::Facts facts = fleet_.status()->facts(actor);
      workers.push_back({actor, facts.busy_ticks, facts.idle_ticks});
    }
    const std::uint32_t wanted = scaler.look(workers);
    if (workers.empty() || wanted == workers.size()) continue;
    if (scaling_->wanted_count(group) != workers.size()) continue;  // one is being started again
    ChangeRequest request{.scale = {{plan_.groups[group].name, wanted}}};
    request.what = "autoscale " + plan_.groups[group].name + "=" + std::to_string(wanted);
    change_queue_.push_back({.peer = "", .message = {.id = 0, .body = std::move(request)}});
    return;
  }
}

void Supervisor::begin_scaling() {
  if (change_->scale.empty()) return end_change("");
  scaling_->begin(std::move(change_->scale));
}

void Supervisor::end_scaling() {
  for (const Scaling::Step& step : scaling_->steps()) {
    const std::string line = plan_.groups[step.group].name + ": " + std::to_string(step.before) +
                             " -> " + std::to_string(step.after) + " workers";
    note({.kind = "scaled", .text = line, .number = step.after, .time_ns = system_clock_ns()});
    change_->reply.lines.push_back(line);
  }
  scaling_->forget();
  end_change("");
}

void Supervisor::end_growth() {
  for (const PlanDiff::Queues& step : growth_->steps()) {
    const std::string line = "port " + plan_.ports[step.port].name + ": " +
                             std::to_string(step.before) + " -> " + std::to_string(step.after) +
                             " queues";
    note({.kind = "grown", .text = line, .number = step.after, .time_ns = system_clock_ns()});
  }
  growth_->forget();
  end_change("");
}

void Supervisor::end_upgrade(const ChangeRequest& wanted, Upgrade::Outcome outcome) {
  change_->reply.lines = std::move(outcome.lines);
  if (outcome.error.empty()) {
    options_.folder = wanted.upgrade;
    tables_->use_folder(wanted.upgrade);
  }
  end_change(outcome.error);
}

void Supervisor::note_reports(const std::vector<TableReport>& reports) {
  for (const TableReport& report : reports) {
    change_->reply.lines.push_back(line_of(report));
    for (const std::string& refusal : report.refusals) {
      change_->reply.lines.push_back("  " + without_secrets(refusal, plan_.secrets));
    }
  }
  note_tables(options_.run_dir, facts_of(reports));
}

void Supervisor::tend_changes() {
  tend_deadline();
  tend_autoscale();
  const bool idle =
      !change_ && tables_->idle() && scaling_->idle() && upgrade_->idle() && growth_->idle();
  if (idle && !change_queue_.empty()) begin_change();
  try {
    const auto outcome = tables_->tend(Clock::now());
    if (outcome && change_) {
      if (!outcome->error.empty()) return end_change(outcome->error);
      note_reports(outcome->reports);
      begin_scaling();
    } else if (change_ && !scaling_->idle() && scaling_->tend(Clock::now())) {
      end_scaling();
    } else if (change_ && !growth_->idle() && growth_->tend(Clock::now())) {
      end_growth();
    }
    if (auto upgraded = upgrade_->tend(Clock::now())) {
      end_upgrade(std::get<ChangeRequest>(change_->request.message.body), std::move(*upgraded));
    }
  } catch (const Error& error) {
    if (change_) end_change(error.what());
  }
}

}  // namespace millrace
