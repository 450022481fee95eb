// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "shared/config/plan.hpp"

/// Tables that change while traffic flows, from both threads of an actor: the control thread reads
/// plan.bin and makes them ready, which may take seconds; the data thread goes over to them between
/// two batches. Implemented by services/functions/stages/function_stages.hpp.

namespace millrace {

/// The control thread's side.
class PlanFollower {
 public:
  virtual ~PlanFollower() = default;
  /// Makes the new tables of `plan` ready, and frees those that it no longer has once the data
  /// thread has left them. Does nothing for a revision that it has followed already. Throws Error
  /// with the reason when a table cannot be made: then nothing changes.
  virtual void follow(const Plan& plan) = 0;
  /// Frees tables that the data thread has given up. Called when pause() is over, or earlier.
  virtual void tend() noexcept = 0;
  /// The longest time from one tend() to the next.
  virtual std::chrono::milliseconds pause() const noexcept { return kTendPause; }

 protected:
  static constexpr std::chrono::milliseconds kTendPause{100};
};

/// The data thread's side, for a device that has tables too.
class NewTables {
 public:
  virtual ~NewTables() = default;
  /// The plan whose tables are ready; null: nothing new.
  virtual const Plan* ready() noexcept = 0;
  /// Goes over to those tables.
  virtual void take() noexcept = 0;
};

}  // namespace millrace
