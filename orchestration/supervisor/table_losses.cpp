// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/table_losses.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "shared/base/error.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

bool is_under_half(std::uint64_t now, std::uint64_t before) { return now * 2 < before; }

/// "\n  PATH: 1 entries, 40 in the one in use" of each file that has shrunk.
std::string shrunk_files(const TableReport& report, const TableFacts& before) {
  std::string text;
  for (const TableFileFacts& file : report.files) {
    const auto known = std::ranges::find(before.files, file.path, &TableFileFacts::path);
    if (known == before.files.end() || !is_under_half(file.accepted, known->accepted)) continue;
    text += "\n  " + file.path + ": " + std::to_string(file.accepted) + " entries, " +
            std::to_string(known->accepted) + " in the one in use";
  }
  return text;
}

void refuse_shrunk_one(const TableReport& report, const PlanFunction& in_use,
                       const TableFacts& before) {
  const std::string files = shrunk_files(report, before);
  const bool has_shrunk =
      !follows_kernel(in_use) && is_under_half(report.accepted, before.accepted);
  if (!has_shrunk && files.empty()) return;
  const std::string what =
      has_shrunk ? std::to_string(report.accepted) + " entries, under half of the " +
                       std::to_string(before.accepted) + " of the one in use, which stays"
                 : "under half of the entries of a file are left; the table in use stays";
  throw Error("table of '" + report.function + "': " + what +
              "; were its files cut short? (--accept-shrunk takes it all the same)" + files);
}

}  // namespace

std::vector<TableFacts> facts_as_written(std::vector<TableFacts> tables, const Plan& plan,
                                         const History& history) {
  for (TableFacts& table : tables) {
    for (TableFileFacts& file : table.files) file.path = history.written_path(plan, file.path);
  }
  return tables;
}

std::string what_is_empty(const TableReport& report, const Plan& plan) {
  std::string none = "table of " + report.function + " has no entries";
  const auto at = std::ranges::find(plan.functions, report.function, &PlanFunction::name);
  // Routes of the kernel come when its interfaces are there.
  const bool has_files_only = at == plan.functions.end() || !follows_kernel(*at);
  if (report.accepted == 0 && has_files_only) return none;
  std::string files;
  for (const TableFileFacts& file : report.files) {
    if (file.accepted == 0) files += (files.empty() ? " of " : ", ") + file.path;
  }
  return files.empty() ? "" : none + files;
}

void refuse_more_refused(const std::vector<TableReport>& reports,
                         const std::vector<TableFacts>& before) {
  for (const TableReport& report : reports) {
    const auto at = std::ranges::find(before, report.function, &TableFacts::function);
    const std::uint64_t refused = at == before.end() ? 0 : at->refused;
    if (report.refused <= refused) continue;
    std::string text = "table of '" + report.function + "': " + std::to_string(report.refused) +
                       " lines are refused, " + std::to_string(refused) +
                       " of the one in use (--accept-refused takes it all the same)";
    for (const std::string& one : report.refusals) text += "\n  " + one;
    throw Error(text);
  }
}

void refuse_shrunk(const std::vector<TableReport>& reports, const Plan& in_use,
                   const std::vector<TableFacts>& before) {
  for (const TableReport& report : reports) {
    const auto function = std::ranges::find_if(in_use.functions, [&](const PlanFunction& one) {
      return one.name == report.function && !one.gone;
    });
    const auto facts = std::ranges::find(before, report.function, &TableFacts::function);
    if (function == in_use.functions.end() || facts == before.end()) continue;
    refuse_shrunk_one(report, *function, *facts);
  }
}

}  // namespace millrace
