// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "orchestration/supervisor/fleet.hpp"

namespace millrace {

/// The port's interface is another one: its ingresses end, to begin anew, and that is no failure of
/// theirs, as none may have been that they were given up for; sockets that are kept for them are
/// dropped.
void reopen_ingresses(const Plan& plan, Fleet& fleet, const std::string& run_dir,
                      std::uint32_t port);

}  // namespace millrace
