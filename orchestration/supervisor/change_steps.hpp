// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "orchestration/supervisor/change_step.hpp"
#include "orchestration/supervisor/queue_scaling.hpp"
#include "orchestration/supervisor/scaling.hpp"
#include "orchestration/supervisor/table_switch.hpp"
#include "orchestration/supervisor/upgrade.hpp"

/// The steps that there are. Each borrows its machine, which outlives it.

namespace millrace {

/// Other tables and functions. Done when they are in use; what is left of the old ones goes
/// meanwhile, and the machine is idle when it has gone: a process that starts before would look for
/// them.
class TableStep : public ChangeStep {
 public:
  TableStep(const Plan& plan, StateFile& state, TableSwitch& machine, TableSwitch::Wish wish)
      : plan_(plan), state_(state), machine_(machine), wish_(std::move(wish)) {}
  void begin() override { machine_.begin(std::move(wish_)); }
  bool tend(Clock::time_point now) override;
  void take_back() override {}  // the plan has gone back already, by the same phases
  bool stays() const override { return in_use_; }
  StepReport report() const override;

 private:
  const Plan& plan_;
  StateFile& state_;
  TableSwitch& machine_;
  TableSwitch::Wish wish_;
  std::vector<TableReport> reports_;
  bool in_use_ = false;
};

/// Another number of queues. Without any that differs: shares of a change that ran out of time go
/// where the plan wants them.
class QueueStep : public ChangeStep {
 public:
  QueueStep(const Plan& plan, QueueScaling& machine, std::vector<PlanDiff::Queues> queues)
      : plan_(plan), machine_(machine), queues_(std::move(queues)) {}
  void begin() override;
  bool tend(Clock::time_point now) override;
  void take_back() override { machine_.forget(); }
  bool stays() const override { return moved_; }
  StepReport report() const override;

 private:
  const Plan& plan_;
  QueueScaling& machine_;
  std::vector<PlanDiff::Queues> queues_;
  bool moved_ = false;
};

/// Other numbers of workers.
class ScaleStep : public ChangeStep {
 public:
  ScaleStep(const Plan& plan, Scaling& machine, std::vector<Scaling::Step> steps)
      : plan_(plan), machine_(machine), steps_(std::move(steps)) {}
  void begin() override;
  bool tend(Clock::time_point now) override;
  void take_back() override { machine_.forget(); }
  bool stays() const override { return begun_; }
  StepReport report() const override;

 private:
  const Plan& plan_;
  Scaling& machine_;
  std::vector<Scaling::Step> steps_;
  bool begun_ = false;
};

/// Another build. What has been replaced stays so: each process is one that the layout fits, and
/// none of it is the plan's.
class BuildStep : public ChangeStep {
 public:
  /// `done(folder)`: all are of the build in that folder.
  using Done = std::function<void(const std::string& folder)>;

  BuildStep(Upgrade& machine, std::string folder, Done done)
      : machine_(machine), folder_(std::move(folder)), done_(std::move(done)) {}
  void begin() override { machine_.begin(folder_); }
  bool tend(Clock::time_point now) override;
  void take_back() override {}  // what failed has its old folder again (Upgrade)
  bool stays() const override { return false; }
  StepReport report() const override { return {.lines = lines_, .events = {}}; }

 private:
  Upgrade& machine_;
  std::string folder_;
  Done done_;
  std::vector<std::string> lines_;
};

}  // namespace millrace
