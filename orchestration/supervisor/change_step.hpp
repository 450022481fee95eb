// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "shared/control/messages.hpp"

namespace millrace {

/// What a step has done: lines of the reply to the command, and events of the run.
struct StepReport {
  std::vector<std::string> lines;
  std::vector<Event> events;
};

/// One step of a change of a running topology: other tables, other queues, other numbers of
/// workers, another build. Changes runs the steps of a change one after the other, each when the
/// machines of all are idle; the first that fails ends the change. One thread; nothing blocks but a
/// question to the leader, for some milliseconds.
class ChangeStep {
 public:
  using Clock = std::chrono::steady_clock;

  ChangeStep() = default;
  ChangeStep(const ChangeStep&) = delete;  // a machine has one step at a time
  ChangeStep& operator=(const ChangeStep&) = delete;
  virtual ~ChangeStep() = default;

  /// Begins; once. Throws Error when it cannot.
  virtual void begin() = 0;
  /// Goes on. True, once, when all is as the step wants it. Throws Error: it never will be.
  virtual bool tend(Clock::time_point now) = 0;
  /// It has begun and has failed: afterwards its machine is idle, or becomes so by itself.
  virtual void take_back() = 0;
  /// Something of it is in use or on its way, whatever becomes of the step: when the change fails
  /// then, half of it is made, and the topology has to go back.
  virtual bool stays() const = 0;
  /// Once tend() has said true.
  virtual StepReport report() const = 0;
};

}  // namespace millrace
