// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace millrace {

/// A control group (cgroups(7)) of this process that has a controller.
struct ControlGroup {
  std::string folder;     ///< where its files are: "/sys/fs/cgroup/a/b"
  bool version2 = false;  ///< of the hierarchy; names of files differ
};

/// Calls `visit` with the groups of this process in which `controller` ("memory", "hugetlb") may
/// have a limit: its own one first, then those above it up to the mount. `root`: "/", or what
/// stands for it (tests); folders are as seen from there. Where no file system of control groups is
/// mounted their files are absent.
void for_each_control_group(const std::filesystem::path& root, const std::string& controller,
                            const std::function<void(const ControlGroup& group)>& visit);

}  // namespace millrace
