// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/collectable.h>

#include <vector>

#include "shared/config/plan.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Everything of metrics.yaml, read from the status file at each scrape. Borrows both; any thread.
class StatusCollectable final : public prometheus::Collectable {
 public:
  StatusCollectable(const Plan& plan, const StatusView& status) : plan_(plan), status_(status) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const Plan& plan_;
  const StatusView& status_;
};

}  // namespace millrace
