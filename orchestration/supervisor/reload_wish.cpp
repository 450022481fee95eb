// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/reload_wish.hpp"

#include <algorithm>

#include "orchestration/planner/plan_names.hpp"
#include "orchestration/planner/plan_sources.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

bool reads(const PlanFunction& function, const std::string& path) {
  return std::ranges::any_of(function.settings,
                             [&](const auto& setting) { return setting.second == path; });
}

bool read_the_same(const Plan& plan, const PlanFunction& a, const PlanFunction& b) {
  return std::ranges::any_of(plan.sources, [&](const std::string& source) {
    return reads(a, path_of_source(source)) && reads(b, path_of_source(source));
  });
}

}  // namespace

std::vector<PlanEdition> reloaded(const Plan& plan, const std::vector<std::string>& names) {
  std::vector<PlanEdition> functions;
  const auto add = [&](std::uint32_t number) {
    const auto same = [&](const PlanEdition& one) { return one.number == number; };
    if (std::ranges::any_of(functions, same)) return;
    MILLRACE_CHECK(number < plan.functions.size());
    functions.push_back({number, plan.functions[number]});
  };
  for (const std::string& name : names) {
    const std::uint32_t number = function_named(plan, name);
    const PlanFunction& function = plan.functions[number];
    if (function.image.empty()) {
      throw Error("function '" + name + "' (" + function.type + ") has no table");
    }
    add(number);
  }
  std::size_t looked_at = 0;
  while (looked_at < functions.size()) {
    const PlanFunction one = functions[looked_at++].function;  // they move when more are added
    for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
      const PlanFunction& other = plan.functions[i];
      if (!other.image.empty() && read_the_same(plan, one, other)) add(i);
    }
  }
  return functions;
}

std::vector<std::string> sources_now(const Plan& plan, const std::vector<PlanEdition>& functions) {
  std::vector<std::string> sources = plan.sources;
  for (std::string& source : sources) {
    const std::string path = path_of_source(source);
    const auto reads_it = [&](const PlanEdition& one) { return reads(one.function, path); };
    if (std::ranges::any_of(functions, reads_it)) source = source_of(path);
  }
  return sources;
}

}  // namespace millrace
