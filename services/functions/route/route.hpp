// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/function.hpp"

namespace millrace {

/// The row of `route`, forwarding of IPv4 and IPv6 by longest prefix match: table, settings,
/// verdicts and reasons in README.md beside this file.
FunctionType route_type();

}  // namespace millrace
