// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/child.hpp"
#include "orchestration/supervisor/oom_watch.hpp"
#include "orchestration/supervisor/tables.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Builds new tables beside those in use, one builder process after the other. One thread; nothing
/// blocks.
class TableBuild {
 public:
  /// Builds the tables of the functions `numbers` of `plan`, at paths where no file is yet. Saves
  /// the plan as plan.bin.next of the run directory for the builders. Throws Error.
  TableBuild(Plan plan, std::vector<std::uint32_t> numbers, std::string folder,
             std::string run_dir);
  /// Ends builders that have not finished, and removes their images.
  ~TableBuild();
  TableBuild(const TableBuild&) = delete;  // two owners would remove twice
  TableBuild& operator=(const TableBuild&) = delete;

  /// Goes on. True when all are built. Throws Error with the builder's own words when one fails.
  bool tend();
  /// Of those that are built.
  const std::vector<TableReport>& reports() const { return reports_; }
  /// The images are another's to remove.
  void keep() { kept_ = true; }

 private:
  void start_next();

  Plan plan_;
  std::vector<std::uint32_t> numbers_;
  std::string folder_, run_dir_;
  std::size_t at_ = 0;  ///< of numbers_: the one in hand, or next
  std::optional<Child> child_;
  OomWatch memory_;
  UniqueFd output_;
  std::vector<TableReport> reports_;
  bool kept_ = false;
};

}  // namespace millrace
