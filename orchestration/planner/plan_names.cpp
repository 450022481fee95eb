// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_names.hpp"

#include <string_view>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {

std::uint32_t function_named(const Plan& plan, const std::string& name) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    if (plan.functions[i].gone) continue;
    if (plan.functions[i].name == name) return i;
    names.push_back(plan.functions[i].name);
  }
  throw Error(no_such("function", name, names));
}

}  // namespace millrace
