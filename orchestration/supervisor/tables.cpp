// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/tables.hpp"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "orchestration/supervisor/programs.hpp"
#include "shared/base/error.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {

TableReport parse_table_report(const std::string& function, const std::string& json) {
  try {
    const auto report = nlohmann::json::parse(json);
    TableReport table{.function = function,
                      .accepted = report.at("accepted").get<std::uint64_t>(),
                      .refused = report.at("refused").get<std::uint64_t>(),
                      .counter_count = report.at("counter_count").get<std::uint32_t>(),
                      .refusals = report.at("refusals").get<std::vector<std::string>>()};
    for (const auto& file : report.value("files", nlohmann::json::array())) {
      table.files.push_back(
          {file.at("path").get<std::string>(), file.at("accepted").get<std::uint64_t>()});
    }
    return table;
  } catch (const nlohmann::json::exception& error) {
    throw Error("table of '" + function + "': the builder printed no report: " + error.what());
  }
}

void note_tables(StateFile& state, const std::vector<TableReport>& reports) {
  state.keep([&](RunState& next) {
    for (const TableReport& report : reports) {
      const auto known = std::ranges::find(next.tables, report.function, &TableFacts::function);
      TableFacts& facts = known == next.tables.end()
                              ? next.tables.emplace_back(TableFacts{.function = report.function})
                              : *known;
      if (report.is_new || facts.generation == 0) ++facts.generation;
      facts.accepted = report.accepted;
      facts.refused = report.refused;
      facts.files = report.files;
    }
  });
}

std::string builder_log(const PlanFunction& function) { return "builder." + function.name; }

void check_builder(const ExitStatus& end, const PlanFunction& function, const std::string& run_dir,
                   OomWatch& memory) {
  if (end.clean()) return;
  std::string text = end.text();
  if (end.signal == SIGKILL) {
    if (const auto why = memory.explain(OomWatch::Clock::now())) text += ", " + *why;
  }
  throw Error("table of '" + function.name + "': builder " + text + "\n" +
              log_tail(run_dir, builder_log(function)));
}

TableReport build_table(Plan& plan, std::uint32_t number, const std::string& plan_file,
                        const std::string& folder, const std::string& run_dir) {
  PlanFunction& function = plan.functions.at(number);
  OomWatch memory;
  const Captured built = run_and_capture(builder_command(folder, plan_file, number),
                                         log_path(run_dir, builder_log(function)));
  check_builder(built.end, function, run_dir, memory);
  TableReport report = parse_table_report(function.name, built.output);
  function.counter_count = report.counter_count;
  return report;
}

std::vector<TableReport> build_tables(Plan& plan, const std::string& folder,
                                      const std::string& run_dir) {
  std::vector<TableReport> reports;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    if (plan.functions[i].image.empty()) continue;
    reports.push_back(build_table(plan, i, plan_path(run_dir), folder, run_dir));
  }
  return reports;
}

}  // namespace millrace
