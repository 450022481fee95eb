// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orchestration/planner/plan_diff.hpp"
#include "orchestration/planner/planner.hpp"

namespace millrace {

struct TopologyFile {
  Topology topology;
  Plan plan;
};

/// Reads a topology, looks for its files, lets its functions and ports check their settings, and
/// plans it. Starts nothing, needs no rights. Throws TopologyError with places in the file, Error
/// when it cannot be read.
TopologyFile read_topology_file(const std::string& path, const Host& host);

/// What would change of `running`, the plan of what runs in `run_dir`, were it to become what the
/// file says.
PlanDiff diff_to_running(const TopologyFile& file, const Plan& running, const std::string& run_dir);

/// Whether what runs came from this file as it is now. Contents of tables and rules
/// are not compared.
bool plans_the_same(const TopologyFile& file, const Plan& running, const std::string& run_dir);

/// Says the warnings of a topology on standard error.
void print_warnings(const Topology& topology);

}  // namespace millrace
