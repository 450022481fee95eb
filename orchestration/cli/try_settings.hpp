// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/functions/function.hpp"

/// Settings on the command line of `millrace try`, as the YAML would give them.

namespace millrace {

/// "name=mac" or "name=mac,address/length,...". Throws Error with what was expected.
PlanPort parse_try_port(const std::string& text);

/// Throws Error for a text without '=', or one that no function of `types` has a key for.
void check_try_settings(const std::vector<std::string>& texts,
                        const std::vector<std::string>& types);

/// The settings of `texts` for this function: "key=value" where it has the key, and
/// "type.key=value". `classes` is a key of every function that knows it, a comma between names.
Settings try_settings(const std::vector<std::string>& texts, const FunctionTraits& traits);

/// Bits of the names under `classes`; new names are added to `all`. Throws Error above
/// kClassCountMax of them.
std::uint32_t number_classes(const Settings& settings, std::vector<std::string>& all);

}  // namespace millrace
