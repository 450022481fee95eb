// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/rule_files.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {

std::vector<std::string> values_of(const PlanFunction& function, std::string_view key) {
  std::vector<std::string> values;
  for (const auto& [name, value] : function.settings) {
    if (name == key) values.push_back(value);
  }
  return values;
}

std::vector<RuleClass> classes_of(const PlanFunction& function) {
  std::vector<RuleClass> classes;
  std::uint32_t left = function.class_mask;
  for (std::string& name : values_of(function, "classes")) {
    if (left == 0) throw Error("classes: more names than bits in the plan");
    const std::uint32_t bit = std::uint32_t{1} << std::countr_zero(left);
    left &= left - 1;
    classes.push_back({std::move(name), bit});
  }
  return classes;
}

void check_rule_file(const std::string& path) {
  std::error_code ignored;
  // A folder opens too and fails at the first read.
  if (!std::ifstream(path) || std::filesystem::is_directory(path, ignored)) {
    throw Error("rules: cannot read " + path);
  }
}

std::string read_rule_file(const std::string& path) {
  return while_doing("rules", [&] { return whole_file(path, kRuleFileBytesMax); });
}

void report_refusals(std::vector<std::string> refusals, BuildReport& report) {
  report.refused = refusals.size();
  refusals.resize(std::min(refusals.size(), kRefusalsReportedMax));
  report.refusals = std::move(refusals);
}

}  // namespace millrace
