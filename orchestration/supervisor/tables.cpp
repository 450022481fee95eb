// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/tables.hpp"

#include <nlohmann/json.hpp>

#include "orchestration/supervisor/programs.hpp"
#include "shared/base/error.hpp"
#include "shared/control/observer_facts.hpp"

namespace millrace {

TableReport parse_table_report(const std::string& function, const std::string& json) {
  try {
    const auto report = nlohmann::json::parse(json);
    return {.function = function,
            .accepted = report.at("accepted").get<std::uint64_t>(),
            .refused = report.at("refused").get<std::uint64_t>(),
            .counter_count = report.at("counter_count").get<std::uint32_t>(),
            .refusals = report.at("refusals").get<std::vector<std::string>>()};
  } catch (const nlohmann::json::exception& error) {
    throw Error("table of '" + function + "': the builder printed no report: " + error.what());
  }
}

std::vector<TableReport> build_tables(Plan& plan, const std::string& folder,
                                      const std::string& run_dir) {
  std::vector<TableReport> reports;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    PlanFunction& function = plan.functions[i];
    if (function.image.empty()) continue;
    const std::string log = "builder." + function.name;
    const Captured built =
        run_and_capture(builder_command(folder, run_dir + "/plan.bin", i), log_path(run_dir, log));
    if (!built.end.clean()) {
      throw Error("table of '" + function.name + "': builder " + built.end.text() + "\n" +
                  log_tail(run_dir, log));
    }
    reports.push_back(parse_table_report(function.name, built.output));
    function.counter_count = reports.back().counter_count;
  }
  std::vector<TableFacts> facts;
  facts.reserve(reports.size());
  for (const TableReport& report : reports) {
    facts.push_back(
        {.function = report.function, .accepted = report.accepted, .refused = report.refused});
  }
  note_tables(run_dir, std::move(facts));
  return reports;
}

}  // namespace millrace
