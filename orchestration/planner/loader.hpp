// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "orchestration/planner/problem.hpp"
#include "orchestration/planner/topology.hpp"
#include "orchestration/planner/variables.hpp"
#include "shared/config/known.hpp"

/// From the text of a topology file to a Topology with every name checked and every default filled
/// in. Needs no rights, no ports and no tables.

namespace millrace {

/// Reads `path` and parses it. What is wrong goes into `problems`, the result has the rest. Throws
/// Error when the file cannot be read. `read_file` gives included files and secrets.
Topology load_topology(const std::string& path, std::span<const KnownFunction> functions,
                       Problems& problems, ReadFile read_file = read_config_file);

/// `file`: its name in marks; relative names of tables and captures are taken from its folder
/// (those in an included file from the included file's), and the topology without a `name` is
/// called like it. `read_file` gives included files and secrets. Throws TopologyError with all
/// problems (at most kProblemCountMax).
Topology parse_topology(std::string text, const std::string& file,
                        std::span<const KnownFunction> functions,
                        ReadFile read_file = read_config_file);

/// Looks for every input file that the settings name, and for the folder of every output file.
/// Apart from loading, because a capture may come after the check.
void check_files(const Topology& topology, Problems& problems);

}  // namespace millrace
