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
  /// Makes ready what `plan` has beside what is there, and lets go of what it has no more, once the
  /// data thread has. Does nothing for a revision that it has followed already. Throws Error with
  /// the reason when something cannot be made: then all stays as it is.
  virtual void follow(const Plan& plan) = 0;
  /// Frees what the data thread has given up. Called when pause() is over, or earlier.
  virtual void tend() noexcept = 0;
  /// From one tend() to the next, at most.
  virtual std::chrono::milliseconds pause() const noexcept { return kTendPause; }

 protected:
  static constexpr std::chrono::milliseconds kTendPause{100};
};

/// The data thread's side, where a device has tables too.
class NewTables {
 public:
  virtual ~NewTables() = default;
  /// The plan whose tables are ready; null: nothing new.
  virtual const Plan* ready() noexcept = 0;
  /// From now on those.
  virtual void take() noexcept = 0;
};

}  // namespace millrace
