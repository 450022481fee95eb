// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_settings.hpp"
#include "services/functions/nat/pool_notes.hpp"
#include "services/functions/nat64/nat64_settings.hpp"
#include "services/telemetry/counter_sums.hpp"

namespace millrace {
namespace {

void add_pool_of(const StatusSource& source, std::uint32_t id, const NatSettings& settings,
                 Families& families) {
  const std::string& name = source.plan.functions[id].name;
  const CounterSums<PoolCounter> counts(source, id);
  families.add(Metric::kNatMappings, {name},
               counts.left(PoolCounter::kMappingsBegun, PoolCounter::kMappingsEnded));
  families.add(Metric::kNatMappingsMax, {name}, static_cast<double>(settings.max));
  families.add(Metric::kNatBlocks, {name},
               counts.left(PoolCounter::kBlocksTaken, PoolCounter::kBlocksGivenBack));
  families.add(Metric::kNatBlocksMax, {name}, static_cast<double>(settings.blocks()));
}

}  // namespace

void add_pools(const StatusSource& source, Families& families) {
  for (std::uint32_t id = 0; id < source.plan.functions.size(); ++id) {
    const PlanFunction& function = source.plan.functions[id];
    if (function.gone || function.counter_count < kPoolCounterCount) continue;
    if (function.type == "nat") {
      add_pool_of(source, id, nat_settings(function.settings), families);
    } else if (function.type == "nat64") {
      add_pool_of(source, id, nat64_settings(function.settings).nat, families);
    }
  }
}

}  // namespace millrace
