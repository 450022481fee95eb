// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "services/functions/stage_runner.hpp"
#include "shared/config/plan.hpp"

/// A case of a golden table in steps (golden_table.hpp has the format): what a function does with
/// one packet after the other, what time does to it, and all that leaves.

namespace millrace {

using GoldenFrame = std::vector<std::byte>;

struct GoldenOut {
  std::string port;
  std::string kind;  ///< name of the reason that counts it as generated; empty: the packet itself
  GoldenFrame frame;
};

/// A generated packet that does not leave itself.
struct GoldenEnd {
  std::string kind, fate, reason;
};

struct GoldenStep {
  std::uint64_t now_ns = 0;
  std::string from;  ///< port; empty: no packet comes, time has passed
  GoldenFrame in;
  std::uint32_t times = 1;
  std::string fate = "pass", reason = "none";
  std::vector<GoldenOut> out;
  std::vector<GoldenEnd> ends;
};

/// Runs the steps of one case, from an empty table of neighbours; failures name it as
/// `description`. `reasons`: of the function, as in a plan. `runner`: of the function, which has
/// seen no packet yet. `in_halves`: compute and finish as on a device.
void expect_steps(const std::string& description, const std::vector<GoldenStep>& steps,
                  const std::vector<PlanPort>& ports, const std::vector<PlanReason>& reasons,
                  StageRunner& runner, bool in_halves);

}  // namespace millrace
