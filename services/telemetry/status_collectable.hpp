// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/collectable.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "services/telemetry/nvml.hpp"
#include "services/telemetry/signature_counts.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Everything of metrics.yaml, read at each scrape: mostly from the status file, a little from the
/// run directory, the kernel and the GPU driver. Functions are those of the plan as it is then.
/// Borrows status; any thread.
class StatusCollectable final : public prometheus::Collectable {
 public:
  /// `run_dir`: where table facts lie; empty: nowhere. `nvml`: null without the driver's library.
  StatusCollectable(Plan plan, const StatusView& status, std::string run_dir = {},
                    std::unique_ptr<Nvml> nvml = nullptr)
      : plan_(std::move(plan)),
        status_(status),
        run_dir_(std::move(run_dir)),
        nvml_(std::move(nvml)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  void follow_plan() const;

  mutable Plan plan_;
  mutable SignatureCounts signatures_;
  const StatusView& status_;
  std::string run_dir_;
  std::unique_ptr<Nvml> nvml_;
  mutable std::mutex mutex_;  ///< guards what changes; and the library is not asked twice at a time
};

}  // namespace millrace
