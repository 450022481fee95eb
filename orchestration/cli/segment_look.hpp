// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/segment.hpp"

/// What a command sees of a running topology's segment: its tables, and none of its packets.

namespace millrace {

/// The segment's file, from any process of the topology that has it; where this user may not look
/// at their descriptors, from hub or standby, which lend it. Throws Error when neither has it.
UniqueFd segment_of(const Plan& plan, const std::string& run_dir);

class SegmentLook {
 public:
  /// Maps the segment up to its packets: to read, unless `writable`. `file` may be closed then.
  /// Throws Error when it is not laid out as `plan` says.
  SegmentLook(const UniqueFd& file, const Plan& plan, bool writable = false);

  /// Changes nothing without `writable`: the process would end.
  NeighbourTableView neighbours() const { return view_.neighbours(); }
  /// Likewise. What a function keeps of a lane; its worker changes it meanwhile.
  std::span<std::byte> lane_state(const Plan& plan, std::uint32_t function,
                                  std::uint32_t lane) const {
    return view_.lane_state(plan, function, lane);
  }

 private:
  Mapping mapping_;
  SegmentView view_;
};

}  // namespace millrace
