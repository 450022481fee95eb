// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/table_switch.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "orchestration/planner/plan_renumber.hpp"
#include "orchestration/supervisor/history.hpp"
#include "orchestration/supervisor/table_losses.hpp"
#include "services/functions/image_file.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kTellAgain{250};  // another may have started since
constexpr std::chrono::milliseconds kTryAgain{250};   // a disk may have room since

/// Two builds of one table; what a live one is by now, its checksum does not say. An image that
/// cannot be read is like no other.
bool are_alike(const std::string& in_use, const std::string& next) {
  try {
    const ImageHeader now = read_image_header(in_use);
    return now.live == 0 && now.checksum == read_image_header(next).checksum;
  } catch (const Error&) {
    return false;
  }
}

bool has_tables(ActorKind kind) { return is_of_group(kind) || kind == ActorKind::kEgress; }

/// One that takes no part any more is not waited for.
bool is_shut_out(ActorState state) {
  return state == ActorState::kFenced || state == ActorState::kReclaiming ||
         state == ActorState::kQuarantined;
}

bool has_gpu(const Plan& plan) {
  return std::ranges::any_of(plan.groups,
                             [](const PlanGroup& group) { return group.kind == GroupKind::kGpu; });
}

}  // namespace

TableSwitch::TableSwitch(Plan& plan, const Fleet& fleet, const StateFile& state, Means means)
    : plan_(plan), fleet_(fleet), state_(state), means_(std::move(means)) {}

void TableSwitch::begin(Wish wish) {
  MILLRACE_CHECK(idle());
  wish_ = std::move(wish);
  reports_.clear();
  failure_.clear();
  build();
  phase_ = Phase::kBuilding;
}

void TableSwitch::build() {
  const std::uint32_t edition = plan_.revision + 1;
  Plan next = plan_;
  std::vector<std::uint32_t> numbers;
  for (PlanStageEdition& one : wish_.stages) one.edition = edition;
  for (PlanEdition& one : wish_.functions) {
    PlanFunction& wanted = one.function;
    wanted.edition = edition;
    if (one.number == next.functions.size()) next.functions.push_back(gone(wanted));
    const PlanFunction& now = next.functions.at(one.number);
    wanted.counter_count = now.counter_count;  // the status file is laid out by it
    if (wanted.gone) continue;                 // until then its stages run it
    const std::string& image = now.gone ? wanted.image : now.image;
    if (!image.empty()) wanted.image = image_of_edition(image, edition + 1);
    next.functions[one.number] = wanted;
    numbers.push_back(one.number);
  }
  build_ = std::make_unique<TableBuild>(std::move(next), std::move(numbers), means_.folder,
                                        means_.run_dir);
}

void TableSwitch::refuse_losses() const {
  const std::vector<TableFacts> before =
      facts_as_written(state_.now().tables, plan_, History(means_.run_dir));
  if (!wish_.accept_refused) refuse_more_refused(build_->reports(), before);
  if (!wish_.accept_shrunk) refuse_shrunk(build_->reports(), plan_, before);
}

/// Marks the tables that are new. False: none is.
bool TableSwitch::compare() {
  bool any = false;
  for (TableReport& report : reports_) {
    for (const PlanEdition& one : wish_.functions) {
      if (one.function.name != report.function || one.number >= plan_.functions.size()) continue;
      const PlanFunction& now = plan_.functions[one.number];
      if (!now.gone) report.is_new = !are_alike(now.image, one.function.image);
    }
    any |= report.is_new;
  }
  return any;
}

/// For functions that were never there: a number, and counters of those to spare.
void TableSwitch::make_places() {
  for (PlanEdition& one : wish_.functions) {
    MILLRACE_CHECK(one.number <= plan_.functions.size());  // numbers have no gap
    if (one.number != plan_.functions.size()) continue;
    const auto report = std::ranges::find(reports_, one.function.name, &TableReport::function);
    std::uint32_t& count = one.function.counter_count;
    if (report != reports_.end()) count = report->counter_count;
    count = std::min({count, kCounterMaxOfComer, plan_.spare_counters});
    plan_.spare_counters -= count;
    plan_.functions.push_back(gone(one.function));
    plan_.functions.back().edition = 0;
  }
}

void TableSwitch::resume() {
  if (plan_.others.empty() && plan_.other_stages.empty()) return;
  publish(Phase::kReverting);
}

void TableSwitch::publish(Phase phase) {
  const auto now = Clock::now();
  ++plan_.revision;
  phase_ = phase;
  until_ = now + means_.limit;
  saved_ = false;
  save_again_ = {};
  save(now);
}

/// What goes forward fails when it cannot be written; for the way back it is tried until it can.
bool TableSwitch::save(Clock::time_point now) {
  if (saved_ || now < save_again_) return saved_;
  try {
    save_plan(plan_, plan_path(means_.run_dir));
  } catch (const Error& error) {
    save_again_ = now + kTryAgain;
    if (phase_ == Phase::kLoading || phase_ == Phase::kUsing) fail(error.what());
    return false;
  }
  for (const std::string& image : std::exchange(unneeded_, {})) remove_image(image);
  until_ = now + means_.limit;
  tell_again_ = {};
  return saved_ = true;
}

bool TableSwitch::all_follow(Clock::time_point now) {
  if (fleet_.status() == nullptr) return true;
  const bool tell = now >= tell_again_;
  if (tell) tell_again_ = now + kTellAgain;
  bool all = true;
  for (const Post& post : fleet_.posts()) {
    if (!post.kind) continue;
    for (const Seat& seat : post.seats) {
      if (!seat.child) continue;
      const auto behind = [&](std::uint32_t actor) {
        return has_tables(plan_.actors[actor].kind) && !is_shut_out(fleet_.state(actor)) &&
               fleet_.status()->revision(actor) < plan_.revision;
      };
      if (!behind(seat.actor) && std::ranges::none_of(seat.others, behind)) continue;
      all = false;
      if (tell) means_.tell(seat.actor, plan_.revision);
    }
  }
  return all;
}

void TableSwitch::swap_editions() {
  for (PlanEdition& other : plan_.others) {
    MILLRACE_CHECK(other.number < plan_.functions.size());
    std::swap(other.function, plan_.functions[other.number]);
  }
  for (PlanStageEdition& other : plan_.other_stages) {
    MILLRACE_CHECK(other.number < plan_.stages.size());
    std::swap(other.functions, plan_.stages[other.number].functions);
    std::swap(other.edition, plan_.stages[other.number].edition);
  }
}

void TableSwitch::fail(const std::string& why) {
  failure_ = why;
  if (phase_ != Phase::kLoading && phase_ != Phase::kUsing) return;
  if (phase_ == Phase::kUsing) {
    swap_editions();
    if (saved_) return publish(Phase::kReverting);
  }
  const bool unheard = phase_ == Phase::kLoading && !saved_;
  forget_others();  // no worker has computed with them
  finish(why);
  if (unheard) {
    phase_ = Phase::kIdle;
  } else {
    publish(Phase::kDropping);
  }
}

void TableSwitch::refused(const std::string& who, std::uint32_t revision, const std::string& why) {
  if (revision != plan_.revision) return;
  if (phase_ == Phase::kLoading || phase_ == Phase::kUsing) fail(who + ": " + why);
}

/// A process that has one mapped keeps it.
void TableSwitch::forget_others() {
  for (const PlanEdition& other : plan_.others) {
    if (!other.function.image.empty()) unneeded_.push_back(other.function.image);
  }
  plan_.others.clear();
  plan_.other_stages.clear();
}

void TableSwitch::finish(const std::string& error) {
  MILLRACE_CHECK(!outcome_);  // a change has one end
  outcome_ = Outcome{error, reports_};
  wish_ = {};
}

/// From now on no batch is sealed for the other tables.
void TableSwitch::drain(Clock::time_point now) {
  if (fleet_.status() != nullptr) sealed_ = fleet_.status()->sealed();
  phase_ = Phase::kDraining;
  until_ = now + means_.limit;
}

void TableSwitch::advance(Clock::time_point now) {
  if (!save(now) && phase_ != Phase::kDropping) return;
  switch (phase_) {
    case Phase::kIdle:
      return;
    case Phase::kBuilding:
      if (!build_->tend()) return;
      refuse_losses();
      reports_ = build_->reports();
      if (!compare() && wish_.only_if_differs) {
        build_.reset();
        phase_ = Phase::kIdle;
        return finish("");
      }
      build_->keep();
      build_.reset();
      make_places();
      plan_.others = wish_.functions;
      plan_.other_stages = wish_.stages;
      if (!wish_.classes.empty()) plan_.classes = wish_.classes;
      if (!wish_.reasons.empty()) plan_.reasons = wish_.reasons;
      return publish(Phase::kLoading);
    case Phase::kLoading:
      if (all_follow(now)) {
        swap_editions();
        return publish(Phase::kUsing);
      }
      if (now > until_) fail("not all workers have made the new tables ready in time");
      return;
    case Phase::kUsing:
      if (all_follow(now)) {
        drain(now);
        return finish("");
      }
      if (now > until_) fail("not all workers have gone over to the new tables in time");
      return;
    case Phase::kReverting:
      if (!all_follow(now)) return;
      drain(now);
      if (!failure_.empty()) finish(failure_);
      return;
    case Phase::kDraining:
      // Batches without a worker are not waited for: the cure may be a change itself. What
      // comes late of tables that have gone is dropped, and counted.
      if (now <= until_ && has_gpu(plan_) && fleet_.status() != nullptr &&
          !fleet_.status()->released(sealed_)) {
        return;
      }
      forget_others();
      return publish(Phase::kDropping);
    case Phase::kDropping:
      // One that cannot let go keeps memory, nothing else: no reason to stop all further changes.
      if ((saved_ && all_follow(now)) || now > until_) phase_ = Phase::kIdle;
      return;
  }
}

std::optional<TableSwitch::Outcome> TableSwitch::tend(Clock::time_point now) {
  try {
    advance(now);
  } catch (const Error& error) {
    const Phase at = phase_;
    if (at == Phase::kBuilding) {
      build_.reset();
      phase_ = Phase::kIdle;
      finish(error.what());
    } else {
      fail(error.what());
    }
  }
  return std::exchange(outcome_, std::nullopt);
}

}  // namespace millrace
