// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "shared/config/plan.hpp"

namespace millrace {

/// The function as its place says while there is none: name, and what memory is laid out by.
PlanFunction gone(const PlanFunction& function);

struct Renumbered {
  Plan plan;
  std::vector<std::string> obstacles;  ///< why it cannot follow the running one, for people
};

/// `next`, a plan of its own, with functions, classes and reasons numbered as in `now`, which runs:
/// what shared memory holds of a function lies by its number, packets under way carry bits of
/// classes, and ledgers count by reason. A function of the same name has the same number, also when
/// it was gone meanwhile; new ones follow behind. What `next` does not name is there and gone; no
/// class goes, and no reason.
Renumbered renumbered(const Plan& now, Plan next);

}  // namespace millrace
