// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// What leads from a running topology to another one.
struct PlanDiff {
  struct Count {
    std::uint32_t group = 0;
    std::uint32_t before = 0, after = 0;
  };
  struct Queues {
    std::uint32_t port = 0;
    std::uint32_t before = 0, after = 0;
  };
  std::vector<PlanEdition> functions;  ///< with other settings or contents of their files, new, or
                                       ///< gone: as they are to be, by their number in `now`
  std::vector<PlanStageEdition> stages;  ///< that run other functions than now
  std::vector<std::string> classes;      ///< all that there are then; those of now come first
  std::vector<PlanReason> reasons;       ///< likewise
  std::vector<Count> counts;             ///< other numbers of workers
  std::vector<Queues> queues;            ///< ports with other numbers of receive queues
  std::vector<std::string> lines;        ///< all that can change while it runs, for people
  std::vector<std::string> restart;      ///< what cannot, alike

  bool empty() const { return lines.empty() && restart.empty(); }
};

/// `now` is what runs, with the numbers of workers that there are; `next` what shall run.
PlanDiff diff_plans(const Plan& now, const Plan& next);

}  // namespace millrace
