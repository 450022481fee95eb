// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orchestration/supervisor/fleet.hpp"
#include "shared/control/messages.hpp"

namespace millrace {

/// Functions that the status file calls out of service; empty before there is one.
std::vector<std::string> out_of_service(const Plan& plan, const Fleet& fleet);

/// What plan, processes and status file say of a topology. Not of it: what the supervisor itself
/// knows (phase, time, events, changes).
StatusReply status_report(const Plan& plan, const Fleet& fleet);

}  // namespace millrace
