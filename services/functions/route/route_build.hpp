// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/function.hpp"

namespace millrace {

/// Builds the route table of `context.function` and publishes it at `function.image` (layout:
/// route_image.hpp). 900,000 prefixes take about a second. Builder process, `millrace try`, tests:
/// it starts a private EAL. Throws Error when a file cannot be read or the image not be written.
BuildReport build_route_image(const FunctionContext& context);

}  // namespace millrace
