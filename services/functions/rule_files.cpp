// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/rule_files.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "services/functions/text_file.hpp"
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

void check_input_files(const PlanFunction& function, std::string_view key) {
  for (const std::string& path : values_of(function, key)) {
    while_doing(std::string(key), [&] { static_cast<void>(open_regular_file(path)); });
  }
}

void check_rule_files(const PlanFunction& function, const std::string& type) {
  if (values_of(function, "rules").empty()) {
    throw Error("rules: " + type + " needs at least one rule file");
  }
  check_input_files(function, "rules");
}

std::string read_rule_file(const std::string& path) {
  return while_doing("rules", [&] { return read_text_file(path, kRuleFileBytesMax); });
}

void report_refusals(std::vector<std::string> refusals, BuildReport& report) {
  report.refused = refusals.size();
  refusals.resize(std::min(refusals.size(), kRefusalsReportedMax));
  report.refusals = std::move(refusals);
}

std::uint64_t count_entries(std::string_view text) {
  std::uint64_t count = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t first = text.substr(0, end).find_first_not_of(" \t");
    if (first != text.npos && text[first] != '#') ++count;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return count;
}

void report_files(const std::vector<TableFile>& files, BuildReport& report) {
  std::vector<std::string> lines;
  for (const TableFile& file : files) {
    const auto known = std::ranges::find(report.files, file.path, &TableFile::path);
    if (known != report.files.end()) {
      known->accepted += file.accepted;
      continue;
    }
    report.files.push_back(file);
    if (file.is_empty) lines.push_back(file.path + ": no entry in it; is it whole?");
  }
  lines.insert(lines.end(), report.refusals.begin(), report.refusals.end());
  lines.resize(std::min(lines.size(), kRefusalsReportedMax));
  report.refusals = std::move(lines);
}

}  // namespace millrace
