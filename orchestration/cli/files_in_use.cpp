// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/files_in_use.hpp"

#include <filesystem>
#include <system_error>

#include "orchestration/cli/same_place.hpp"
#include "orchestration/planner/plan_sources.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

Error in_use(const std::string& path, const std::string& what) {
  return Error(path + " is " + what + "; name another file to write");
}

void compare(const std::string& owner, const Settings& settings, const std::string& path) {
  for (const auto& [key, value] : settings) {
    // Files have whole paths in a plan; whatever else has its text may be anything.
    if (value.starts_with('/') && same_place(value, path)) {
      throw in_use(path, "'" + key + "' of '" + owner + "' of the topology");
    }
  }
}

}  // namespace

void refuse_file_in_use(const Plan& plan, const std::string& run_dir, const std::string& path) {
  std::error_code ignored;
  if (fs::is_character_file(path, ignored)) return;  // /dev/null
  for (const std::string& source : plan.sources) {
    if (same_place(path_of_source(source), path)) {
      throw in_use(path, "what the topology was made from");
    }
  }
  for (const PlanPort& port : plan.ports) compare(port.name, port.settings, path);
  for (const PlanFunction& function : plan.functions) {
    compare(function.name, function.settings, path);
  }
  const std::string whole = fs::weakly_canonical(path, ignored);
  if (whole.starts_with(run_dir + "/")) throw in_use(path, "in the topology's run directory");
}

}  // namespace millrace
