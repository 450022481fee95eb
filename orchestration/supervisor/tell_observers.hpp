// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orchestration/supervisor/post.hpp"
#include "shared/control/observer_facts.hpp"

namespace millrace {

/// Workers of each group that should run, by the wishes of their posts.
std::vector<WantedWorkers> wanted_workers(const Plan& plan, const std::vector<Post>& posts);

/// Writes for observers which configuration is in use whenever that has changed. One thread.
class ConfigTeller {
 public:
  /// As WantedTeller::tend().
  void tend(const std::string& run_dir, const ConfigFacts& facts);

 private:
  ConfigFacts told_;
  bool failed_ = false;
};

/// Writes for observers how many workers should run whenever that has changed. One thread.
class WantedTeller {
 public:
  /// An error is told once on stderr: nobody's traffic depends on it.
  void tend(const std::string& run_dir, const Plan& plan, const std::vector<Post>& posts);

 private:
  std::vector<WantedWorkers> told_;
  bool failed_ = false;
};

}  // namespace millrace
