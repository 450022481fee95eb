// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace millrace {

/// Throws Error when somebody else listens on `address` ("127.0.0.1:9090") of the section `what`
/// ("telemetry", "control") already; what takes any
/// free port, or is not an IPv4 address, is left to who will listen. Told before anything starts: a
/// process that cannot listen would be restarted until it is given up.
void check_listen(const std::string& what, const std::string& address);

}  // namespace millrace
