// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/config_watch.hpp"

#include <algorithm>

#include "orchestration/planner/plan_sources.hpp"

namespace millrace {

const std::string& ConfigWatch::hash_now(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) info = {};
  Seen& seen = seen_[path];
  const bool same = seen.bytes == info.st_size && seen.inode == info.st_ino &&
                    seen.changed.tv_sec == info.st_mtim.tv_sec &&
                    seen.changed.tv_nsec == info.st_mtim.tv_nsec;
  if (!same || seen.hash.empty()) {
    seen = {info.st_mtim, info.st_size, info.st_ino, hash_of_file(path)};
  }
  return seen.hash;
}

bool ConfigWatch::differs(const Plan& plan, Clock::time_point now) {
  if (now < next_ && generation_ == plan.generation) return differs_;
  next_ = now + kInterval;
  generation_ = plan.generation;
  differs_ = std::ranges::any_of(plan.sources, [&](const std::string& source) {
    return hash_now(path_of_source(source)) != hash_of_source(source);
  });
  return differs_;
}

}  // namespace millrace
