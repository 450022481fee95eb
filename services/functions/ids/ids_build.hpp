// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/ids/rules/rule_set.hpp"

namespace millrace {

/// What the files of a function's `rules` hold, for the lanes that its paths have.
struct LoadedRules {
  RuleSetup setup;
  RuleSet rules;  ///< those that workers can match, in the order of the files
  std::vector<TableFile> files;
};
/// `settings`: of the function. Throws Error. Builder's thread.
LoadedRules load_ids_rules(const FunctionContext& context, const IdsSettings& settings);

/// Reads the rule files of the function and what stands beside them, and writes its image.
/// `extra_counters`: behind those of the rules. Builder's thread. Throws Error.
BuildReport build_ids_image(const FunctionContext& context, std::uint32_t extra_counters);

}  // namespace millrace
