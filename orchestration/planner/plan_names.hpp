// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/config/plan.hpp"

namespace millrace {

/// The number of the function in the plan. Throws Error with the names that there are.
std::uint32_t function_named(const Plan& plan, const std::string& name);

}  // namespace millrace
