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

/// Builds tables beside those that run, one builder process after the other, without being waited
/// for. One thread; nothing blocks.
class TableBuild {
 public:
  /// `plan`: whose functions `numbers` are to be built, at paths where nothing is yet. It is saved
  /// as plan.bin.next of the run directory for the builders. Throws Error.
  TableBuild(Plan plan, std::vector<std::uint32_t> numbers, std::string folder,
             std::string run_dir);
  /// What is not finished ends, its images are removed.
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
