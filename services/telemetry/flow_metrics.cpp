// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "services/functions/flow/flow.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/telemetry/counter_sums.hpp"

namespace millrace {
namespace {

void add_flows_of(const StatusSource& source, std::uint32_t id, Families& families) {
  const PlanFunction& function = source.plan.functions[id];
  const std::string& name = function.name;
  const CounterSums<FlowCounter> counts(source, id);
  const double all = counts.left(FlowCounter::kBegun, FlowCounter::kEnded);
  const double established =
      std::min(all, counts.left(FlowCounter::kEstablished, FlowCounter::kEstablishedEnded));
  families.add(Metric::kFlows, {name, "established"}, established);
  families.add(Metric::kFlows, {name, "opening"}, all - established);
  families.add(Metric::kFlowsMax, {name},
               static_cast<double>(flow_settings(function.settings).max));
  families.add(Metric::kFlowsBegun, {name}, counts.of(FlowCounter::kBegun));
  const double expired = counts.of(FlowCounter::kExpired);
  const double evicted = counts.of(FlowCounter::kGivenUp);
  const double ended = counts.of(FlowCounter::kEnded);
  families.add(Metric::kFlowsEnded, {name, "expired"}, expired);
  families.add(Metric::kFlowsEnded, {name, "evicted"}, evicted);
  families.add(Metric::kFlowsEnded, {name, "closed"}, std::max(0.0, ended - expired - evicted));
  families.add(Metric::kFlowsRefused, {name}, counts.of(FlowCounter::kTableFull));
  const struct {
    const char* state;
    FlowCounter counter;
  } packets[] = {{"untracked", FlowCounter::kUntracked},
                 {"invalid", FlowCounter::kInvalid},
                 {"new", FlowCounter::kNew},
                 {"established", FlowCounter::kEstablishedPackets},
                 {"related", FlowCounter::kRelated}};
  for (const auto& row : packets) {
    families.add(Metric::kFlowPackets, {name, row.state}, counts.of(row.counter));
  }
}

}  // namespace

void add_flows(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.functions.size(); ++id) {
    const PlanFunction& function = source.plan.functions[id];
    if (function.gone || function.type != "flow") continue;
    if (function.counter_count >= CounterSums<FlowCounter>::kCount)
      add_flows_of(source, id, families);
  }
}

}  // namespace millrace
