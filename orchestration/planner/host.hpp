// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// What the planner has to know of the machine: its cores and which NUMA node they, its interfaces,
/// NICs and GPUs belong to.

namespace millrace {

struct HostNode {
  int number = 0;
  std::vector<int> cores;  ///< of this node that our processes may use, ascending; at least one
};

struct Host {
  std::vector<int> cores;         ///< that our processes may use, ascending; empty: not known
  std::vector<HostNode> nodes{};  ///< ascending; empty: the host tells nothing of nodes
  std::map<std::string, int> devices{};  ///< "eth1", "0000:3b:00.0": its node; of those that tell
  std::vector<int> gpus{};  ///< nodes of NVIDIA GPUs, by PCI address; -1: it tells none

  /// Each -1 when it is not known.
  int node_of_core(int core) const;
  int node_of_device(const std::string& name) const;
  int node_of_gpu(std::size_t number) const;
};

/// This process's CPU set and what /proc and /sys below `root` tell. Needs no rights.
Host this_host(const std::filesystem::path& root = "/");

/// The numbers in a list such as "0-3,8", ascending; what is no list has none.
std::vector<int> numbers_of_list(const std::string& list);

}  // namespace millrace
