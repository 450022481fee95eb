// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/functions/function.hpp"

/// The core of the builder process; `millrace try` and tests call it in their own process.

namespace millrace {

/// Checks the settings of `context.function`, builds its table and publishes the image at
/// `function.image`. Throws Error: no such type, a type without image, no path for the image, or
/// what the function's own builder says.
BuildReport build_image(const FunctionContext& context);

/// The same for function number `function` of `plan`, of the topology in `run_dir`
/// (FunctionContext).
BuildReport build_image(const Plan& plan, std::uint32_t function, std::string_view run_dir = {});

/// One line of JSON: {"accepted":2,"refused":1,"counter_count":6,"refusals":["file:3: ..."],
/// "files":[{"path":"file","accepted":2}]}.
std::string report_json(const BuildReport& report);

}  // namespace millrace
