// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace millrace {

/// Throws Error when nothing can listen on `address` ("127.0.0.1:9090", "[::1]:9090") of the
/// section `what` ("telemetry", "control"): it is in use, or no address of this host. What takes
/// any free port, or that of an interface, is left to what will listen. Told before anything
/// starts: a process that cannot listen would be restarted until it is given up.
void check_listen(const std::string& what, const std::string& address);

}  // namespace millrace
