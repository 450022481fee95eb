// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "shared/metrics/metric_table.hpp"

namespace millrace {

/// One scrape's metrics, gathered by families in the order of metrics.yaml. A metric that is not
/// added is left out. Used by one thread.
class Families {
 public:
  Families();
  /// `labels`: values in the order of the metric's entry; CHECKed to be as many. `value` is in the
  /// metric's unit.
  void add(Metric metric, const std::vector<std::string>& labels, double value);
  /// `histogram` with its cumulative buckets.
  void add(Metric metric, const std::vector<std::string>& labels,
           prometheus::ClientMetric::Histogram histogram);
  /// The families that have something; *this is empty afterwards.
  std::vector<prometheus::MetricFamily> take();

 private:
  prometheus::ClientMetric& add_labelled(Metric metric, const std::vector<std::string>& labels);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace millrace
