// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orchestration/planner/topology.hpp"
#include "shared/base/limits.hpp"

namespace millrace {

/// All classes of the topology in the order of their first appearance: class i is bit i of a mask.
/// check_references() refuses a function whose own classes do not ascend in it.
std::vector<std::string> classes_of(const Topology& topology);

}  // namespace millrace
