// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestration/planner/problem.hpp"
#include "orchestration/planner/topology.hpp"
#include "shared/control/endpoint.hpp"
#include "shared/control/run_state.hpp"

/// `control:` of a topology (RunState has what a supervisor needs that takes over).

namespace millrace {

/// Nothing when the topology has none.
std::optional<RemoteControl> remote_control_of(const Topology& topology);

/// The keys, as the files have them now. Throws Error that names the file.
RemoteListen remote_listen_of(const RemoteControl& control);

/// Looks into the files of `control:`; those that cannot be used go into `problems`.
void check_remote_control(const Topology& topology, Problems& problems);

}  // namespace millrace
