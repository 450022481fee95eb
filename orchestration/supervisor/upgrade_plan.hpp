// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orchestration/supervisor/post.hpp"

/// In which order the processes of a running topology become those of another build.

namespace millrace {

struct UpgradeStep {
  enum class Kind {
    kReplace,  ///< a successor starts and waits; the old process ends; the successor takes over
    kEnd,      ///< the process ends; none is there for a while
    kStart,    ///< one of the new build starts where none is
    kDrain,    ///< it leaves when it has nothing in hand, and is not wanted any more
  };
  Kind kind = Kind::kReplace;
  std::size_t post = 0;  ///< in Fleet::posts()
  /// kReplace: the leader is asked to drain it first, so that no producer chooses it any more. Else
  /// SIGTERM: it goes between two batches, and recovery hands on what it had not begun.
  bool drain = false;
  friend bool operator==(const UpgradeStep&, const UpgradeStep&) = default;
};

struct UpgradePlan {
  std::vector<UpgradeStep> steps;
  std::vector<std::string> remarks;  ///< what stays as it is, and why
};

/// Workers first, then ingresses, egresses, standby and hub, observers:
///
/// - A group that has one worker and room for another is given a second one meanwhile, as packets
///   of functions with `unavailable: pass | drop` would go past them while none is there.
/// - Worker: drained, unless it is the only one of a group with state: no other can take its lanes.
/// - The standby ends before the hub does and starts after it, as there is one leader: for the
///   moment in between nothing is recovered; the next leader does it.
/// - The hub of a topology with `dpdk` ports owns their devices and stays.
///
/// Posts that are not wanted up are left alone. Throws Error when the hub has ended: then a restart
/// is due anyhow.
UpgradePlan plan_upgrade(const Plan& plan, const std::vector<Post>& posts);

}  // namespace millrace
