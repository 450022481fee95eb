// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orchestration/supervisor/note_keeper.hpp"
#include "orchestration/supervisor/post.hpp"
#include "shared/control/observer_facts.hpp"

namespace millrace {

/// Workers of each group that should run, by the wishes of their posts.
std::vector<WantedWorkers> wanted_workers(const Plan& plan, const std::vector<Post>& posts);

/// Writes for observers which configuration is in use whenever that has changed. One thread.
class ConfigTeller {
 public:
  void tend(const std::string& run_dir, const ConfigFacts& facts);

 private:
  NoteKeeper<ConfigFacts> told_;
};

/// Writes for observers how many workers should run whenever that has changed. One thread.
class WantedTeller {
 public:
  void tend(const std::string& run_dir, const Plan& plan, const std::vector<Post>& posts);

 private:
  NoteKeeper<std::vector<WantedWorkers>> told_;
};

}  // namespace millrace
