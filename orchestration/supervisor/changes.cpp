// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "orchestration/supervisor/supervisor.hpp"
#include "shared/base/boot.hpp"
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
constexpr std::chrono::seconds kAutoscaleLook{1};  // of autoscale

bool reads(const PlanFunction& function, const std::string& path) {
  return std::ranges::any_of(function.settings,
                             [&](const auto& setting) { return setting.second == path; });
}

bool read_the_same(const Plan& plan, const PlanFunction& a, const PlanFunction& b) {
  return std::ranges::any_of(plan.sources, [&](const std::string& source) {
    return reads(a, path_of_source(source)) && reads(b, path_of_source(source));
  });
}

/// The named functions as they are set now, to build their tables anew, and all that read one of
/// their files too: the content of a file is the same for all.
std::vector<PlanEdition> reloaded(const Plan& plan, const std::vector<std::string>& names) {
  std::vector<PlanEdition> functions;
  const auto add = [&](std::uint32_t number) {
    const auto same = [&](const PlanEdition& one) { return one.number == number; };
    if (std::ranges::any_of(functions, same)) return;
    functions.push_back({number, plan.functions[number]});
  };
  for (const std::string& name : names) {
    const std::uint32_t number = function_named(plan, name);
    const PlanFunction& function = plan.functions[number];
    if (function.image.empty()) {
      throw Error("function '" + name + "' (" + function.type + ") has no table");
    }
    add(number);
  }
  std::size_t looked_at = 0;
  while (looked_at < functions.size()) {
    const PlanFunction one = functions[looked_at++].function;  // they move when more are added
    for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
      const PlanFunction& other = plan.functions[i];
      if (!other.image.empty() && read_the_same(plan, one, other)) add(i);
    }
  }
  return functions;
}

/// The plan's sources, with what is in files of these functions now.
std::vector<std::string> sources_now(const Plan& plan, const std::vector<PlanEdition>& functions) {
  std::vector<std::string> sources = plan.sources;
  for (std::string& source : sources) {
    const std::string path = path_of_source(source);
    const auto reads_it = [&](const PlanEdition& one) { return reads(one.function, path); };
    if (std::ranges::any_of(functions, reads_it)) source = source_of(path);
  }
  return sources;
}

/// Until when a change that puts itself in the place of `generation` has to be confirmed.
History::Deadline deadline_of(const ChangeRequest& wanted, std::uint64_t generation) {
  return {boot_clock_ns() + wanted.confirm_seconds * 1'000'000'000ull, generation};
}

/// What a message has room for, and one line more.
void shorten(std::vector<std::string>& lines) {
  constexpr std::size_t kLinesMax = kReplyLinesMax - 1;
  if (lines.size() <= kLinesMax) return;
  const std::size_t more = lines.size() - kLinesMax + 1;
  lines.resize(kLinesMax - 1);
  lines.push_back("and " + std::to_string(more) + " more");
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

bool Supervisor::is_changing() const { return !change_queue_.empty() || !is_idle(); }

bool Supervisor::is_idle() const {
  return !change_ && tables_->idle() && scaling_->idle() && upgrade_->idle() &&
         queue_scaling_->idle();
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
  const std::vector<std::string> sources = std::move(change_->sources);
  const bool goes_back = way_back_ && wanted.rollback && request.message.id == 0;
  const bool halfway = change_->halfway && (!wanted.rollback || !(way_back_ || deadline_));
  change_.reset();
  const bool tables = !wanted.reload.empty() || !wanted.plan.empty();
  if (tables) ++(why.empty() ? reloads_done_ : reloads_failed_);
  why = without_secrets(std::move(why), plan_.secrets);
  if (!why.empty()) {
    if (goes_back) return way_back_failed(why);
    note_failed(wanted.what + ": " + why);
    if (halfway) {
      take_back_half(sources);
    } else if (!deadline_ && !way_back_) {
      history_->set_deadline(std::nullopt);
    }
    if (request.message.id != 0) server_->reply(request, ErrorReply{why});
    return;
  }
  if (!wanted.plan.empty()) {
    way_back_.reset();
    if (reply.lines.empty()) reply.lines.emplace_back("nothing had to change");
  }
  if (tables) {  // one that comes back may have been taken out before it went
    for (const std::string& name : out_of_service()) {
      reply.lines.push_back("out of service: " + name + "; put it back: millrace function " +
                            run_words() + " " + name + " in");
    }
  }
  shorten(reply.lines);
  if (wanted.confirm_seconds != 0) {
    reply.lines.push_back("taken back in " + std::to_string(wanted.confirm_seconds) +
                          " s unless confirmed: millrace confirm " + run_words());
  }
  reply.generation = plan_.generation;
  note({.kind = "changed",
        .text = wanted.what,
        .number = plan_.generation,
        .time_ns = system_clock_ns()});
  if (request.message.id != 0) server_->reply(request, std::move(reply));
}

/// No generation, and nothing that would have to be confirmed.
void Supervisor::end_as_it_was() {
  const Received request = std::move(change_->request);
  change_.reset();
  server_->reply(request,
                 ChangeReply{.generation = plan_.generation, .lines = {"nothing differs"}});
}

TableSwitch::Wish Supervisor::wish_of(const ChangeRequest& wanted) {
  change_->scale = scaling_->check(wanted.scale);
  // Anew means what is in the files now, also after a rollback.
  auto functions = reloaded(history_->as_written(plan_), wanted.reload);
  // Before they are read: should one change meanwhile, it differs from what is known of it.
  change_->sources = sources_now(plan_, functions);
  return {std::move(functions), wanted.accept_refused, {}, {}, {}, wanted.accept_shrunk};
}

/// From the present plan to another one, as far as that can be while it runs.
TableSwitch::Wish Supervisor::wish_to_apply(const ChangeRequest& wanted) {
  Plan next = load_plan(wanted.plan);
  ::unlink(wanted.plan.c_str());  // the command may have gone meanwhile
  const PlanDiff diff = diff_plans(wanted.rollback ? plan_ : history_->as_written(plan_), next);
  if (!diff.restart.empty()) {
    std::string text = "cannot change while it runs:";
    for (const std::string& line : diff.restart) text += "\n  " + line;
    throw Error(text);
  }
  change_->none = !wanted.rollback && diff.lines.empty() && next.sources == plan_.sources;
  queue_scaling_->check(diff.queues);
  change_->queues = diff.queues;
  std::vector<GroupCount> counts;
  for (const PlanDiff::Count& count : diff.counts) {
    counts.push_back({plan_.groups[count.group].name, count.after});
  }
  change_->scale = scaling_->check(counts);
  for (const std::string& secret : next.secrets) {
    if (std::ranges::find(plan_.secrets, secret) != plan_.secrets.end()) continue;
    plan_.secrets.push_back(secret);
  }
  change_->reply.lines = diff.lines;
  change_->sources = next.sources;
  change_->next = std::move(next);
  return {diff.functions, wanted.accept_refused, diff.stages,
          diff.classes,   diff.reasons,          wanted.accept_shrunk};
}

void Supervisor::begin_change() {
  change_ = PendingChange{.request = std::move(change_queue_.front()), .sources = plan_.sources};
  change_queue_.pop_front();
  const auto& wanted = std::get<ChangeRequest>(change_->request.message.body);
  try {
    if (deadline_ && !wanted.rollback) {
      throw Error("the last change waits to be confirmed: millrace confirm " + run_words() +
                  ", or millrace rollback " + run_words());
    }
    if (is_going_back() && !wanted.rollback) {
      throw Error("nothing else changes meanwhile: " + way_back_->text(run_words()));
    }
    if (!wanted.upgrade.empty()) return upgrade_->begin(wanted.upgrade);
    TableSwitch::Wish wish = wanted.plan.empty() ? wish_of(wanted) : wish_to_apply(wanted);
    if (change_->none) return end_as_it_was();
    // Should we die before it is done, it is not left half done (adopt()).
    if (wanted.confirm_seconds != 0 && !deadline_) {
      check_way_back();
      history_->set_deadline(deadline_of(wanted, plan_.generation));
    }
    if (!wish.empty()) return tables_->begin(std::move(wish));
    go_on();
  } catch (const Error& error) {
    end_change(error.what());
  }
}

/// What the plan's tables come from, and how many workers each group should have by now.
void Supervisor::note_change(const std::vector<std::string>& sources) {
  plan_.sources = sources;
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
    if (!plan_.fused) plan_.groups[group].count = scaling_->wanted_count(group);
  }
}

/// The plan says what is now: of it a supervisor that takes over learns it, and the history.
void Supervisor::adopt_change(const ChangeRequest& wanted) {
  note_change(change_->sources);
  if (change_->next) {
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      plan_.groups[i].autoscale = change_->next->groups[i].autoscale;
    }
  }
  plan_.hash = hash_of_sources(plan_.sources);
  for (const Post& post : fleet_.posts()) {
    if (!is_worker(post) && post.kind != ActorKind::kIngress) continue;
    plan_.actors[post.seats[0].actor].at_start = post.wish == Wish::kUp;
  }
  const std::uint64_t before = plan_.generation++;
  try {
    save_plan(plan_, options_.run_dir + "/plan.bin");
    history_->add(plan_, wanted.what, system_clock_ns());
  } catch (const std::exception&) {
    plan_.generation = before;  // no gap in the history
    throw;
  }
  deadline_.reset();
  if (wanted.confirm_seconds != 0) deadline_ = deadline_of(wanted, before);
  history_->set_deadline(deadline_);
}

/// The supervisor before this one died over a change that was to be confirmed: no user has heard
/// that it was made. What of it is in use differs from what was.
void Supervisor::take_up_deadline() {
  deadline_ = history_->deadline();
  if (!deadline_ || deadline_->generation != plan_.generation) return;
  std::vector<PlanEdition> halfway;
  for (const PlanEdition& other : plan_.others) {
    halfway.push_back({other.number, plan_.functions.at(other.number)});
  }
  plan_.sources = sources_now(plan_, halfway);
  deadline_->time_ns = 0;
}

/// Looks at groups with `autoscale:`; a change of theirs waits in the row like any other.
void Supervisor::tend_autoscale() {
  const auto now = Clock::now();
  if (now < next_look_ || fleet_.status() == nullptr || phase_ != "running") return;
  next_look_ = now + kAutoscaleLook;
  const bool busy = is_changing() || deadline_ || is_going_back();
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

/// Once its tables are in use: queues, then workers.
void Supervisor::go_on() {
  change_->waits = false;
  if (!change_->queues.empty()) {
    return queue_scaling_->begin(std::exchange(change_->queues, {}));
  }
  if (change_->next) queue_scaling_->resume();  // one that ran out of time left its wishes
  if (change_->scale.empty()) return end_change("");
  change_->halfway = true;
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

void Supervisor::end_queue_scaling() {
  for (const PlanDiff::Queues& step : queue_scaling_->steps()) {
    const std::string line = "port " + plan_.ports[step.port].name + ": " +
                             std::to_string(step.before) + " -> " + std::to_string(step.after) +
                             " queues";
    note({.kind = "queues", .text = line, .number = step.after, .time_ns = system_clock_ns()});
  }
  queue_scaling_->forget();
  change_->halfway = true;
  go_on();
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
  tend_way_back();
  if (is_idle() && !change_queue_.empty()) begin_change();
  try {
    const auto outcome = tables_->tend(Clock::now());
    if (outcome && following_) {
      end_following(*outcome);
    } else if (outcome && change_) {
      if (!outcome->error.empty()) return end_change(outcome->error);
      change_->halfway = true;
      note_reports(outcome->reports);
      change_->waits = !change_->scale.empty() || !change_->queues.empty();
      if (!change_->waits) end_change("");
    } else if (change_ && change_->waits && tables_->idle()) {
      go_on();
    } else if (change_ && !scaling_->idle() && scaling_->tend(Clock::now())) {
      end_scaling();
    } else if (change_ && !queue_scaling_->idle() && queue_scaling_->tend(Clock::now())) {
      end_queue_scaling();
    }
    if (auto upgraded = upgrade_->tend(Clock::now())) {
      end_upgrade(std::get<ChangeRequest>(change_->request.message.body), std::move(*upgraded));
    }
  } catch (const Error& error) {
    if (change_) end_change(error.what());
  }
}

}  // namespace millrace
