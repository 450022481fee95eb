// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orchestration/cli/running.hpp"
#include "shared/config/plan.hpp"

/// What the commands that change a running topology share.

namespace millrace {

/// Asks the supervisor for a change and waits until it is done: as long as builders take, if it
/// answers other questions meanwhile. Throws Error with the reasons when nothing has changed, and
/// with what can be done when the supervisor hangs.
ChangeReply ask_change(const std::string& run_dir, const ChangeRequest& request);
/// The same by TCP where `options` say so.
ChangeReply ask_change(const RunningOptions& options, const ChangeRequest& request);

/// The same for a whole plan, which is handed over in a file (`request.plan` is set here).
ChangeReply ask_change_to(const Plan& plan, const std::string& run_dir, ChangeRequest request);

/// What was done, for people or as {"ok", "generation", "done"}.
void print_change(const ChangeReply& reply, bool json);

}  // namespace millrace
