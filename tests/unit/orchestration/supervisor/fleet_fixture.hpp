// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "orchestration/supervisor/fleet.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"

/// A fleet whose programs are scripts, with the status file that it looks at.

namespace millrace::test {

class FleetFixture : public testing::Test {
 protected:
  /// `plan.name` names shared memory: no other process may use it.
  explicit FleetFixture(Plan plan) : plan_(std::move(plan)) {
    make_run_dir(folder_ + "/run");
    write_scripts(folder_);
    memory_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
    view_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
    fleet_ = std::make_unique<Fleet>(plan_, FleetPlace{folder_, folder_ + "/run", {}},
                                     [](const Event&) {});
    fleet_->attach_status();
  }
  ~FleetFixture() override {
    fleet_->stop([](const Post&) { return true; }, std::chrono::milliseconds(0));
    destroy_shared_memory(plan_.name);
    std::filesystem::remove_all(folder_);
  }

  Plan plan_;
  std::string folder_ = new_folder();
  Mapping memory_;
  StatusView view_;
  std::unique_ptr<Fleet> fleet_;

 private:
  static std::string new_folder() {
    char pattern[] = "/tmp/millrace-fleet-XXXXXX";
    return ::mkdtemp(pattern);
  }
};

}  // namespace millrace::test
