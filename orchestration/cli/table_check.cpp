// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/table_check.hpp"

#include <unistd.h>

#include <cstdint>
#include <vector>

#include "orchestration/supervisor/history.hpp"
#include "orchestration/supervisor/table_losses.hpp"
#include "orchestration/supervisor/tables.hpp"
#include "services/functions/image_file.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_state.hpp"

namespace millrace {
namespace {

/// A draft of the run directory, which goes with what runs.
struct PlanFile {
  PlanFile(const Plan& plan, const std::string& run_dir)
      : path(run_dir + "/plan.bin.check." + std::to_string(::getpid())) {
    save_plan(plan, path);
  }
  PlanFile(const PlanFile&) = delete;
  PlanFile& operator=(const PlanFile&) = delete;
  ~PlanFile() { ::unlink(path.c_str()); }
  const std::string path;
};

/// Images lie beside those in use, where there is room for such; only one at a time.
std::vector<TableReport> reports_of(Plan plan, const std::string& folder,
                                    const std::string& run_dir) {
  for (PlanFunction& function : plan.functions) {
    if (function.image.empty()) continue;
    function.image = image_of_edition(function.image, kCheckedEdition);
  }
  const PlanFile file(plan, run_dir);
  std::vector<TableReport> reports;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    const std::string image = plan.functions[i].image;
    if (image.empty()) continue;
    try {
      reports.push_back(build_table(plan, i, file.path, folder, run_dir));
    } catch (const Error& error) {
      remove_image(image);
      throw Error("nothing has changed: " + std::string(error.what()));
    }
    remove_image(image);
  }
  return reports;
}

}  // namespace

void check_tables(const Plan& running, const Plan& next, const std::string& folder,
                  const std::string& run_dir, AcceptedLosses losses) {
  const std::vector<TableReport> reports = reports_of(next, folder, run_dir);
  const std::vector<TableFacts> before =
      facts_as_written(load_run_state(run_dir).tables, running, History(run_dir));
  if (!losses.refused) refuse_more_refused(reports, before);
  if (!losses.shrunk) refuse_shrunk(reports, running, before);
}

}  // namespace millrace
