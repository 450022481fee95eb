// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/last_run.hpp"

#include <unistd.h>

#include <filesystem>

#include "orchestration/supervisor/history.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/control/run_state.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

/// Of the file that is beside a run directory of this name.
std::string bypass_in(const std::string& folder) { return folder + "/control"; }

}  // namespace

LastRun::LastRun(const std::string& run_dir)
    : folder_(run_dir + "." + std::to_string(::getpid()) + ".before") {
  lock_.emplace(folder());
  save_plan(load_plan(millrace::plan_path(run_dir)), plan_path());
  History(folder()).resume(run_dir);
  save_run_state(folder(), {.control = load_run_state(run_dir).control});
  if (const auto bypass = load_bypass(run_dir)) save_bypass(bypass_in(folder()), *bypass);
}

LastRun::Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path, error);
}

std::optional<Bypass> bypass_of_last_run(const std::string& folder) {
  auto bypass = load_bypass(bypass_in(folder));
  if (bypass) bypass->on = false;
  return bypass;
}

}  // namespace millrace
