// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/changes.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "orchestration/planner/plan_diff.hpp"
#include "orchestration/planner/plan_sources.hpp"
#include "orchestration/supervisor/reload_wish.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/secrets.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

constexpr std::size_t kWaitingMax = 64;

/// What a message has room for, and one line more.
void shorten(std::vector<std::string>& lines) {
  constexpr std::size_t kLinesMax = kReplyLinesMax - 1;
  if (lines.size() <= kLinesMax) return;
  const std::size_t more = lines.size() - kLinesMax + 1;
  lines.resize(kLinesMax - 1);
  lines.push_back("and " + std::to_string(more) + " more");
}

bool is_of_tables(const ChangeRequest& wanted) {
  return !wanted.reload.empty() || !wanted.plan.empty();
}

}  // namespace

Changes::Changes(Plan& plan, Fleet& fleet, const History& history, StateFile& state, Means means)
    : plan_(plan),
      fleet_(fleet),
      history_(history),
      state_(state),
      means_(std::move(means)),
      scaling_(plan, fleet, means_.ask_drain, means_.run_words),
      tables_(plan, fleet, state,
              {means_.folder, means_.run_dir,
               [this](std::uint32_t actor, std::uint32_t revision) {
                 means_.tell(actor_peer(actor), FollowPlan{revision});
               }}),
      queues_(plan, fleet,
              {means_.run_dir, means_.run_words, means_.is_ready, means_.forget_ready,
               [this] { return ShareWords(plan_); }}),
      upgrade_(plan, fleet,
               {means_.run_dir, means_.ask_drain, means_.is_ready, means_.forget_ready}),
      guard_(history, state, means_.run_words,
             [this](const std::string& text) { note_failed(text); }),
      autoscaling_(plan, fleet, scaling_),
      following_(plan, state, tables_, means_.note) {}

bool Changes::machines_are_idle() const {
  return tables_.idle() && scaling_.idle() && upgrade_.idle() && queues_.idle();
}

void Changes::ask(const Received& request) {
  MILLRACE_CHECK(std::holds_alternative<ChangeRequest>(request.message.body));
  if (row_.size() >= kWaitingMax) {
    means_.reply(request, ErrorReply{std::to_string(kWaitingMax) +
                                     " changes wait already, as many as may; ask again when one "
                                     "has ended: millrace status " +
                                     means_.run_words});
  } else {
    row_.push_back(request);
  }
}

/// A change of the supervisor's own: no command waits for an answer.
void Changes::put(ChangeRequest request, bool in_front) {
  Received own{.peer = "", .message = {.id = 0, .body = std::move(request)}};
  row_.insert(in_front ? row_.begin() : row_.end(), std::move(own));
}

void Changes::confirm(const Received& request) {
  try {
    guard_.confirm();
  } catch (const Error& error) {
    return means_.reply(request, ErrorReply{error.what()});
  }
  means_.note({.kind = "confirmed",
               .text = "generation " + std::to_string(plan_.generation) + " stays",
               .number = plan_.generation,
               .time_ns = system_clock_ns()});
  means_.reply(request, OkReply{});
}

/// What of a change without an end is in use differs from what was.
void Changes::resume() {
  counts_ = {state_.now().config.reloads_done, state_.now().config.reloads_refused};
  if (guard_.resume(plan_.generation)) {
    std::vector<PlanEdition> halfway;
    for (const PlanEdition& other : plan_.others) {
      halfway.push_back({other.number, plan_.functions.at(other.number)});
    }
    plan_.sources = sources_now(plan_, halfway);
  }
  tables_.resume();
  queues_.resume();
}

void Changes::lay_out_upgrade(const std::string& folder) {
  const auto done = [this](const std::string& now) {
    means_.folder = now;
    tables_.use_folder(now);
  };
  change_->steps.push_back(std::make_unique<BuildStep>(upgrade_, folder, done));
}

void Changes::lay_out_reload() {
  const ChangeRequest& wanted = change_->wanted();
  std::vector<Scaling::Step> scale = scaling_.check(wanted.scale);
  // Anew means what is in the files now, also after a rollback.
  auto functions = reloaded(history_.as_written(plan_), wanted.reload);
  // Before they are read: should one change meanwhile, it differs from what is known of it.
  change_->sources = sources_now(plan_, functions);
  TableSwitch::Wish wish{.functions = std::move(functions),
                         .accept_refused = wanted.accept_refused,
                         .accept_shrunk = wanted.accept_shrunk};
  auto& steps = change_->steps;
  if (!wish.empty()) {
    steps.push_back(std::make_unique<TableStep>(plan_, state_, tables_, std::move(wish)));
  }
  if (!scale.empty()) {
    steps.push_back(std::make_unique<ScaleStep>(plan_, scaling_, std::move(scale)));
  }
}

/// From the present plan to another one, as far as that can be while it runs.
void Changes::lay_out_plan() {
  const ChangeRequest& wanted = change_->wanted();
  Plan next = load_plan(wanted.plan);
  ::unlink(wanted.plan.c_str());  // the command may have gone meanwhile
  const PlanDiff diff = diff_plans(wanted.rollback ? plan_ : history_.as_written(plan_), next);
  if (!diff.restart.empty()) {
    std::string text = "cannot change while it runs:";
    for (const std::string& line : diff.restart) text += "\n  " + line;
    throw Error(text);
  }
  change_->none = !wanted.rollback && diff.lines.empty() && next.sources == plan_.sources;
  queues_.check(diff.queues);
  std::vector<GroupCount> counts;
  for (const PlanDiff::Count& count : diff.counts) {
    MILLRACE_CHECK(count.group < plan_.groups.size());
    counts.push_back({plan_.groups[count.group].name, count.after});
  }
  std::vector<Scaling::Step> scale = scaling_.check(counts);
  for (const std::string& secret : next.secrets) {
    if (std::ranges::find(plan_.secrets, secret) != plan_.secrets.end()) continue;
    plan_.secrets.push_back(secret);
  }
  change_->reply.lines = diff.lines;
  change_->sources = next.sources;
  change_->next = std::move(next);
  TableSwitch::Wish wish{.functions = diff.functions,
                         .accept_refused = wanted.accept_refused,
                         .stages = diff.stages,
                         .classes = diff.classes,
                         .reasons = diff.reasons,
                         .accept_shrunk = wanted.accept_shrunk};
  auto& steps = change_->steps;
  const bool tables_only = !wish.empty() && scale.empty() && diff.queues.empty();
  if (!wish.empty()) {
    steps.push_back(std::make_unique<TableStep>(plan_, state_, tables_, std::move(wish)));
  }
  if (!tables_only) steps.push_back(std::make_unique<QueueStep>(plan_, queues_, diff.queues));
  if (!scale.empty()) {
    steps.push_back(std::make_unique<ScaleStep>(plan_, scaling_, std::move(scale)));
  }
}

void Changes::begin() {
  MILLRACE_CHECK(is_idle() && !row_.empty());
  change_ = Change{.request = std::move(row_.front()), .sources = plan_.sources};
  row_.pop_front();
  const ChangeRequest& wanted = change_->wanted();
  try {
    guard_.refuse(wanted);
    if (!wanted.upgrade.empty()) return lay_out_upgrade(wanted.upgrade);
    if (wanted.plan.empty()) {
      lay_out_reload();
    } else {
      lay_out_plan();
    }
    if (change_->none) return end_as_it_was();
    guard_.promise(wanted, plan_.generation);
  } catch (const Error& error) {
    end(error.what());
  }
}

/// A step begins when what the one before it has left behind has gone.
void Changes::run(Clock::time_point now) {
  MILLRACE_CHECK(change_.has_value());
  while (change_->at < change_->steps.size()) {
    ChangeStep& step = *change_->steps[change_->at];
    if (!change_->begun) {
      if (!machines_are_idle()) return;
      change_->begun = true;
      step.begin();
    }
    if (!step.tend(now)) return;
    finish_step();
  }
  end("");
}

void Changes::finish_step() {
  StepReport done = change_->steps[change_->at]->report();
  for (Event& event : done.events) means_.note(std::move(event));
  auto& lines = change_->reply.lines;
  lines.insert(lines.end(), done.lines.begin(), done.lines.end());
  ++change_->at;
  change_->begun = false;
}

bool Changes::something_stays() const {
  return std::ranges::any_of(change_->steps, [](const auto& step) { return step->stays(); });
}

/// What the plan's tables come from, and how many workers each group should have by now.
void Changes::note_plan(const std::vector<std::string>& sources) {
  plan_.sources = sources;
  for (std::uint32_t group = 0; group < plan_.groups.size(); ++group) {
    if (!plan_.fused) plan_.groups[group].count = scaling_.wanted_count(group);
  }
}

/// The plan says what is now: of it a supervisor that takes over learns it, and the history.
void Changes::adopt() {
  const ChangeRequest& wanted = change_->wanted();
  note_plan(change_->sources);
  if (change_->next) {
    MILLRACE_CHECK(change_->next->groups.size() == plan_.groups.size());
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
    save_plan(plan_, plan_path(means_.run_dir));
    history_.add(plan_, wanted.what, system_clock_ns());
  } catch (const std::exception&) {
    plan_.generation = before;  // no gap in the history
    throw;
  }
  guard_.made(wanted, before);
}

void Changes::end(const std::string& error) {
  MILLRACE_CHECK(change_.has_value());
  std::string why = error;
  if (!why.empty() && change_->begun) change_->steps[change_->at]->take_back();
  try {
    if (why.empty()) adopt();
  } catch (const std::exception& failure) {
    why = failure.what();
  }
  if (is_of_tables(change_->wanted())) ++(why.empty() ? counts_.done : counts_.failed);
  const bool half = something_stays() && guard_.is_for(change_->wanted());
  Change change = std::move(*change_);
  change_.reset();
  if (why.empty()) return end_made(std::move(change));
  why = without_secrets(std::move(why), plan_.secrets);
  if (guard_.is_try(change.request)) return guard_.failed(why);
  note_failed(change.wanted().what + ": " + why);
  if (half) {
    note_plan(change.sources);  // so that the way back is seen
    guard_.take_back(plan_.generation, "as only half of a change was made");
  } else {
    guard_.dropped();
  }
  if (change.request.message.id != 0) means_.reply(change.request, ErrorReply{why});
}

void Changes::end_made(Change change) {
  const ChangeRequest& wanted = change.wanted();
  std::vector<std::string>& lines = change.reply.lines;
  if (!wanted.plan.empty()) {
    guard_.forget_way_back();
    if (lines.empty()) lines.emplace_back("nothing had to change");
  }
  if (is_of_tables(wanted)) {  // one that comes back may have been taken out before it went
    for (const std::string& name : means_.out_of_service()) {
      lines.push_back("out of service: " + name + "; put it back: millrace function " +
                      means_.run_words + " " + name + " in");
    }
  }
  shorten(lines);
  if (wanted.confirm_seconds != 0) {
    lines.push_back("taken back in " + std::to_string(wanted.confirm_seconds) +
                    " s unless confirmed: millrace confirm " + means_.run_words);
  }
  change.reply.generation = plan_.generation;
  means_.note({.kind = "changed",
               .text = wanted.what,
               .number = plan_.generation,
               .time_ns = system_clock_ns()});
  if (change.request.message.id != 0) means_.reply(change.request, std::move(change.reply));
}

/// No generation, and nothing that would have to be confirmed.
void Changes::end_as_it_was() {
  const Received request = std::move(change_->request);
  change_.reset();
  means_.reply(request, ChangeReply{.generation = plan_.generation, .lines = {"nothing differs"}});
}

void Changes::note_failed(const std::string& text) const {
  means_.note({.severity = Severity::kError,
               .kind = "change_failed",
               .text = text,
               .time_ns = system_clock_ns()});
}

void Changes::tend(bool runs) {
  const auto now = Clock::now();
  guard_.tend(is_changing());
  if (runs) {
    const bool busy = is_changing() || guard_.waits_for_confirm() || guard_.is_going_back();
    if (auto request = autoscaling_.look(now, busy)) put(std::move(*request), false);
  }
  // In front of all that waits: it was asked for when there was something else.
  if (is_idle()) {
    if (auto back = guard_.next_try(plan_path(means_.run_dir) + ".back"))
      put(std::move(*back), true);
  }
  if (is_idle() && !row_.empty()) begin();
  try {
    const bool step_runs = change_ && change_->begun;
    if (following_.is_under_way()) {
      following_.tend(now);
    } else if (!step_runs) {
      tables_.tend(now);  // what is left of the old ones goes
    }
    if (change_) run(now);
  } catch (const Error& error) {
    if (change_) end(error.what());
  }
  if (is_idle() && row_.empty()) following_.begin_due();
}

}  // namespace millrace
