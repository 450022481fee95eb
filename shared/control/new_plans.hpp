// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Changes of a topology's plan, for a process that is not told of them.
class NewPlans {
 public:
  /// `layout`: hash of the status file that this process has mapped.
  NewPlans(std::string path, std::uint64_t layout) : path_(std::move(path)), layout_(layout) {
    last_ = time_of();
  }
  /// The plan, when it is another one than last time.
  std::optional<Plan> next() {
    const auto now = time_of();
    if (now == last_) return std::nullopt;
    last_ = now;
    try {
      Plan plan = load_plan(path_);
      if (status_layout(plan).hash == layout_) return plan;
    } catch (const Error&) {
      return std::nullopt;  // of another build, or gone: all stays as it is
    }
    return std::nullopt;
  }

 private:
  std::filesystem::file_time_type time_of() const {
    std::error_code ignored;
    return std::filesystem::last_write_time(path_, ignored);
  }

  std::string path_;
  std::uint64_t layout_;
  std::filesystem::file_time_type last_;
};

}  // namespace millrace
