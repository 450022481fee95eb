// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "services/functions/route/live/live_pool.hpp"
#include "shared/base/clock.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// The readers of a topology's tables are its workers and egresses, which write into the status
/// file when they begin a turn. No reference into a table outlives a turn. An actor that hangs
/// keeps everything from being freed until it has been recovered.
class StatusGrace final : public ReaderGrace {
 public:
  StatusGrace(const Plan& plan, StatusView status);
  std::uint64_t now() override;
  bool passed(std::uint64_t moment) override;

 private:
  StatusView status_;
  std::uint64_t margin_;  ///< ticks: more than a processor's reordering, and clocks of two cores
  std::vector<std::uint32_t> readers_;
};

}  // namespace millrace
