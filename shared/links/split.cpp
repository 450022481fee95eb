// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/links/split.hpp"

namespace millrace {
Split::Split(const ActorContext& context) : context_(context) {
  const Plan& plan = *context_.plan;
  for (std::uint32_t i = 0; i < plan.groups.size(); ++i) {
    const PlanGroup& group = plan.groups[i];
    groups_.push_back({.offload = group.offload, .held = std::vector<Held>(group.spill)});
    if (is_balanced(group)) groups_.back().measured = &offload_of(plan, context_.status, i);
  }
}

/// Looks at two batches at a time: each that was done behind an older one costs a cache line of
/// another core.
bool Split::has_room(Group& group) noexcept {
  for (int looks = 2; looks != 0 && group.count != 0; --looks) {
    const Held& oldest = group.held[group.first];
    const std::uint64_t holder =
        context_.segment.slot(oldest.slot).gpu_holder.load(std::memory_order_relaxed);
    if (holder == oldest.holder) break;
    if (++group.first == group.held.size()) group.first = 0;
    --group.count;
  }
  return group.count < group.held.size();
}

bool Split::gpu_is_next(std::uint32_t number) noexcept {
  Group& group = groups_[number];
  group.credit += group.measured == nullptr ? group.offload : measured_offload(*group.measured);
  if (group.credit < kOffloadWhole) return false;
  group.credit -= kOffloadWhole;
  return has_room(group);
}

void Split::at_gpu(std::uint32_t number, std::uint32_t slot, std::uint64_t holder) noexcept {
  Group& group = groups_[number];
  if (group.count == group.held.size()) return;  // sent beyond `spill`, as no other was alive
  std::size_t at = group.first + group.count++;
  if (at >= group.held.size()) at -= group.held.size();
  group.held[at] = {slot, holder};
}

}  // namespace millrace
