// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "shared/config/plan.hpp"

namespace millrace {

/// Calls `visit` with each whole line, without its end, that is in the file of events and in those
/// that were renamed by size, the oldest first. A rename meanwhile changes nothing of what is read.
/// Throws Error: there is no file, or one cannot be read.
void visit_event_files(const Plan& plan, const std::function<void(const std::string&)>& visit);

}  // namespace millrace
