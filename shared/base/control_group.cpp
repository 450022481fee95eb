// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/control_group.hpp"

#include <fstream>

namespace millrace {

namespace fs = std::filesystem;

void for_each_control_group(const fs::path& root, const std::string& controller,
                            const std::function<void(const ControlGroup& group)>& visit) {
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/a/b" of version 2, "7:cpu,cpuacct:/a/b" of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = controllers.empty();
    if (!version2 && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) {
      continue;
    }
    const fs::path base = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    for (fs::path group = line.substr(second + 1);; group = group.parent_path()) {
      const fs::path below = group.relative_path();
      visit({(below.empty() ? base : base / below).string(), version2});
      if (below.empty()) break;
    }
  }
}

}  // namespace millrace
