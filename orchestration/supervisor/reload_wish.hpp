// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "shared/config/plan.hpp"

/// What a request to reload means for a plan.

namespace millrace {

/// The named functions as they are set now, to build their tables anew, and all that read one of
/// their files too: the content of a file is the same for all. Throws Error for a name that is
/// none, or a function without a table.
std::vector<PlanEdition> reloaded(const Plan& plan, const std::vector<std::string>& names);

/// The plan's sources, with what is in files of these functions now. Throws Error when one cannot
/// be read.
std::vector<std::string> sources_now(const Plan& plan, const std::vector<PlanEdition>& functions);

}  // namespace millrace
