// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/change_steps.hpp"

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/secrets.hpp"

namespace millrace {
namespace {

std::string line_of(const TableReport& report) {
  return "table of " + report.function + ": " + std::to_string(report.accepted) + " entries, " +
         std::to_string(report.refused) + " refused";
}

/// "front: 2 -> 3 workers"
std::string from_to(const std::string& what, std::uint32_t before, std::uint32_t after,
                    const std::string& of) {
  return what + ": " + std::to_string(before) + " -> " + std::to_string(after) + " " + of;
}

Event event_of(std::string kind, std::string text, std::uint64_t number) {
  return {.kind = std::move(kind), .text = std::move(text), .number = number};
}

}  // namespace

bool TableStep::tend(Clock::time_point now) {
  auto outcome = machine_.tend(now);
  if (!outcome) return false;
  if (!outcome->error.empty()) throw Error(outcome->error);
  in_use_ = true;
  reports_ = std::move(outcome->reports);
  note_tables(state_, reports_);
  return true;
}

StepReport TableStep::report() const {
  StepReport done;
  for (const TableReport& report : reports_) {
    done.lines.push_back(line_of(report));
    for (const std::string& refusal : report.refusals) {
      done.lines.push_back("  " + without_secrets(refusal, plan_.secrets));
    }
  }
  return done;
}

void QueueStep::begin() {
  if (queues_.empty()) return machine_.resume();
  machine_.begin(queues_);
}

bool QueueStep::tend(Clock::time_point now) {
  if (queues_.empty()) return true;
  if (!machine_.tend(now)) return false;
  machine_.forget();
  moved_ = true;
  machine_.resume();  // those of other ports
  return true;
}

StepReport QueueStep::report() const {
  StepReport done;
  for (const PlanDiff::Queues& step : queues_) {
    MILLRACE_CHECK(step.port < plan_.ports.size());
    done.events.push_back(event_of(
        "queues", from_to("port " + plan_.ports[step.port].name, step.before, step.after, "queues"),
        step.after));
  }
  return done;
}

/// Some workers may be on their way when it fails.
void ScaleStep::begin() {
  begun_ = true;
  machine_.begin(steps_);
}

bool ScaleStep::tend(Clock::time_point now) {
  if (!machine_.tend(now)) return false;
  machine_.forget();
  return true;
}

StepReport ScaleStep::report() const {
  StepReport done;
  for (const Scaling::Step& step : steps_) {
    MILLRACE_CHECK(step.group < plan_.groups.size());
    std::string line = from_to(plan_.groups[step.group].name, step.before, step.after, "workers");
    done.events.push_back(event_of("scaled", line, step.after));
    done.lines.push_back(std::move(line));
  }
  return done;
}

bool BuildStep::tend(Clock::time_point now) {
  auto outcome = machine_.tend(now);
  if (!outcome) return false;
  if (!outcome->error.empty()) throw Error(outcome->error);
  lines_ = std::move(outcome->lines);
  done_(folder_);
  return true;
}

}  // namespace millrace
