// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "orchestration/supervisor/autoscaler.hpp"
#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/scaling.hpp"
#include "shared/control/messages.hpp"

namespace millrace {

/// Looks at the groups of a running topology that have `autoscale:`, once a second, and asks for
/// another number of workers where one is due. One thread.
class Autoscaling {
 public:
  using Clock = std::chrono::steady_clock;

  /// All are borrowed.
  Autoscaling(const Plan& plan, const Fleet& fleet, const Scaling& scaling)
      : plan_(plan), fleet_(fleet), scaling_(scaling) {}
  /// A change that waits in the row like any other. `busy`: something else changes, or may; what
  /// was seen until now counts no more.
  std::optional<ChangeRequest> look(Clock::time_point now, bool busy);

 private:
  std::vector<Autoscaler::Spent> spent_in(std::uint32_t group) const;

  const Plan& plan_;
  const Fleet& fleet_;
  const Scaling& scaling_;
  std::vector<Autoscaler> autoscalers_;  ///< by group
  Clock::time_point next_look_{};
};

}  // namespace millrace
