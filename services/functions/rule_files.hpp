// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/function.hpp"

/// What functions with rule files have in common: settings `rules` and `classes`.

namespace millrace {

inline constexpr std::size_t kRuleFileBytesMax = 64u << 20;
inline constexpr std::size_t kRefusalsReportedMax = 100;

/// Why they drop: places in kRuleReasons.
enum class RuleReason : std::uint8_t { kRule };
inline constexpr std::array<DeclaredReason, 1> kRuleReasons = {
    {{"rule", ReasonCause::kPolicy, "a rule, or the default of the rules, says drop"}}};

/// A class that a function may set: its name and its bit.
struct RuleClass {
  std::string name;
  std::uint32_t mask = 0;
};

/// All values of a setting, in their order.
std::vector<std::string> values_of(const PlanFunction& function, std::string_view key);

/// The names under `classes`, which stand in the order of the bits of class_mask. Throws Error when
/// there are more names than bits.
std::vector<RuleClass> classes_of(const PlanFunction& function);

/// Throws Error unless the function, of `type`, has rule files (setting `rules`) that can be opened
/// here. For `validate` and the builder: no worker opens such a file, it may be away or for the
/// builder alone.
void check_rule_files(const PlanFunction& function, const std::string& type);

/// Throws Error unless all files of that setting can be opened here. For `validate` likewise.
void check_input_files(const PlanFunction& function, std::string_view key);

/// The whole file as text of lines (text_file.hpp), at most kRuleFileBytesMax. Throws Error.
std::string read_rule_file(const std::string& path);

/// Fills `report` from what was parsed: counts, and the first kRefusalsReportedMax refusals.
void report_refusals(std::vector<std::string> refusals, BuildReport& report);

/// How many lines are neither blank nor comments.
std::uint64_t count_entries(std::string_view text);

/// Enters `files` into `report`; those of one path together. A line for each empty one comes in
/// front of the refusals, and is not counted: a file that was cut short reads like that.
void report_files(const std::vector<TableFile>& files, BuildReport& report);

}  // namespace millrace
