// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "shared/config/plan.hpp"
#include "shared/control/messages.hpp"

namespace millrace {

/// What `millrace drain` still waits for, a line each: ingresses that have not stopped reading,
/// packets in flight by port and lane, slots and buffers in use, problems of the audit. Empty: for
/// nothing.
std::vector<std::string> waits_for(const Plan& plan, const std::vector<std::string>& reading,
                                   const AuditReply& audit);

}  // namespace millrace
