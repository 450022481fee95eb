// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/client_metric.h>

#include <span>

#include "shared/layout/status_file.hpp"

namespace millrace {

/// The sum of several histograms as Prometheus has them: cumulative, with bounds at 2^k and 1.5 *
/// 2^k nanoseconds from 1 us to 1.6 s, which are bounds of the stored buckets too. Reads while
/// other processes write; a count never decreases.
prometheus::ClientMetric::Histogram exported(std::span<const LatencyHistogram* const> histograms);

}  // namespace millrace
