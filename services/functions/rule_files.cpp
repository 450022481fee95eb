// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/rule_files.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// A folder opens too and fails at the first read, so it is refused here.
std::ifstream open_rule_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(path, ignored)) {
    throw Error("rules: cannot read " + path);
  }
  return in;
}

}  // namespace

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

void check_rule_file(const std::string& path) { open_rule_file(path); }

std::string read_rule_file(const std::string& path) {
  std::ifstream in = open_rule_file(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() > kRuleFileBytesMax) {
    throw Error("rules: " + path + " is longer than " + std::to_string(kRuleFileBytesMax >> 20) +
                " MB");
  }
  return text;
}

void report_refusals(std::vector<std::string> refusals, BuildReport& report) {
  report.refused = refusals.size();
  refusals.resize(std::min(refusals.size(), kRefusalsReportedMax));
  report.refusals = std::move(refusals);
}

}  // namespace millrace
