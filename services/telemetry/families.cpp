// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/families.hpp"

#include <utility>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

prometheus::MetricType type_of(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

const MetricInfo& info_of(Metric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }

}  // namespace

Families::Families() : families_(static_cast<std::size_t>(Metric::kCount)) {
  for (std::size_t i = 0; i < families_.size(); ++i) {
    families_[i].name = kMetrics[i].name;
    families_[i].help = kMetrics[i].help;
    families_[i].type = type_of(kMetrics[i].type);
  }
}

prometheus::ClientMetric& Families::add_labelled(Metric metric,
                                                 const std::vector<std::string>& labels) {
  const MetricInfo& info = info_of(metric);
  MILLRACE_CHECK(labels.size() == info.label_count);
  prometheus::ClientMetric& added =
      families_[static_cast<std::size_t>(metric)].metric.emplace_back();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    added.label.push_back({std::string(info.labels[i]), labels[i]});
  }
  return added;
}

void Families::add(Metric metric, const std::vector<std::string>& labels, double value) {
  prometheus::ClientMetric& added = add_labelled(metric, labels);
  MILLRACE_CHECK(info_of(metric).type != MetricType::kHistogram);
  if (info_of(metric).type == MetricType::kCounter) {
    added.counter.value = value;
  } else {
    added.gauge.value = value;
  }
}

void Families::add(Metric metric, const std::vector<std::string>& labels,
                   prometheus::ClientMetric::Histogram histogram) {
  MILLRACE_CHECK(info_of(metric).type == MetricType::kHistogram);
  add_labelled(metric, labels).histogram = std::move(histogram);
}

std::vector<prometheus::MetricFamily> Families::take() {
  std::erase_if(families_, [](const auto& family) { return family.metric.empty(); });
  return std::move(families_);
}

}  // namespace millrace
