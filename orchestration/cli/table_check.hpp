// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/config/plan.hpp"

namespace millrace {

/// What of new tables is taken all the same.
struct AcceptedLosses {
  bool refused = false;  ///< more lines refused than of the tables in use
  bool shrunk = false;   ///< under half of the entries, of a table or of one of its files
};

/// Before `running`, of `run_dir`, ends for `next`: builds the tables of `next`, by the builder in
/// `folder`, to look at them. Throws Error, with the builder's own words, when one cannot be built,
/// or loses what `losses` do not take; nothing has changed then. Blocks as long as builders take.
void check_tables(const Plan& running, const Plan& next, const std::string& folder,
                  const std::string& run_dir, AcceptedLosses losses);

}  // namespace millrace
