// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "services/functions/function.hpp"

/// The explicit table of network functions: what Millrace can do is what stands in table.cpp. A new
/// function is a folder beside this file and a row there (`make new-function NAME=x` makes both).

namespace millrace {

/// All rows, in the order of the documentation. Lives as long as the process.
std::span<const FunctionType> function_types();

/// The row of `type`, or null.
const FunctionType* find_function_type(std::string_view type);

/// The row of `type`. Throws Error that lists the known types.
const FunctionType& function_type(std::string_view type);

/// The rows as the configuration wants them.
std::vector<KnownFunction> known_functions();

}  // namespace millrace
