// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ingress/slot_stock.hpp"

#include <algorithm>

namespace millrace {
namespace {

std::uint32_t written_bytes(const ActorContext& context) {
  const ColumnOffsets& at = context.segment.layout().columns;
  return context.plan->classes.empty() ? at.classes : at.reason;
}

}  // namespace

SlotStock::SlotStock(const ActorContext& context, std::uint32_t stream, std::uint32_t ahead)
    : context_(context),
      plan_(context.plan->streams[stream]),
      first_(plan_.slot_first),
      ahead_(ahead),
      written_bytes_(written_bytes(context)),
      feed_of_(plan_.slot_count, 0),
      free_(plan_.slot_count) {
  for (const PlanStreamPath& path : plan_.paths) {
    uses_.push_back({path.slots_max});
    limited_ = limited_ || path.slots_max != 0;
  }
  std::vector<std::uint64_t> words;
  for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
    returned_[r] = context_.segment.slot_return(stream, static_cast<Returner>(r));
    returned_[r].snapshot(words);
  }
  std::vector<bool> returned(plan_.slot_count, false);
  for (const std::uint64_t word : words) {
    const std::uint32_t at = Descriptor::from_word(word).slot - first_;
    MILLRACE_CHECK(at < plan_.slot_count);
    returned[at] = true;
  }
  for (std::uint32_t i = 0; i < plan_.slot_count; ++i) {
    views_.push_back(context_.segment.batch(first_ + i, context_.segment.capacity()));
    SlotHeader& header = context_.segment.slot(first_ + i);
    const bool ours = Owner::from_word(header.owner).actor == context_.me.actor;
    if (returned[i] || !ours || header.state.load(std::memory_order_acquire) != 0) {
      // The slot is in flight: it counts for its path until it is collected.
      note_used(first_ + i, feed_of_lane(header.lane));
      continue;
    }
    header.owner.store(context_.me.word(), std::memory_order_release);
    free_[count_++] = first_ + i;
  }
}

/// The path of the slot's lane. A lane of another stream means that the slot was never used.
std::uint16_t SlotStock::feed_of_lane(std::uint16_t lane) const {
  const auto at = std::ranges::find_if(plan_.paths, [&](const PlanStreamPath& each) {
    const PlanPath& path = context_.plan->paths[each.path];
    return lane >= path.lane_first && lane - path.lane_first < path.lane_count;
  });
  return at == plan_.paths.end() ? std::uint16_t{0}
                                 : static_cast<std::uint16_t>(at - plan_.paths.begin());
}

std::uint32_t SlotStock::count_with_returned() const noexcept {
  std::uint32_t count = count_;
  for (const auto& ring : returned_) count += ring.size();
  return count;
}

bool SlotStock::some_returned() const noexcept {
  return std::ranges::any_of(returned_, [](const auto& ring) { return !ring.empty(); });
}

void SlotStock::collect() noexcept {
  std::array<std::uint64_t, 32> words;
  const auto stamp = [&](std::uint64_t word) {
    context_.segment.slot(Descriptor::from_word(word).slot)
        .owner.store(context_.me.word(), std::memory_order_release);
  };
  const std::uint32_t before = count_;
  for (auto& ring : returned_) {
    std::uint32_t count = 0;
    while ((count = ring.take(words, stamp)) != 0) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t slot = Descriptor::from_word(words[i]).slot;
        MILLRACE_CHECK(count_ < free_.size() && slot - first_ < free_.size());
        free_[count_++] = slot;
        if (limited_) --uses_[feed_of_[slot - first_]].count;
      }
    }
  }
  if (count_ == before) return;
  for (std::uint32_t next = 1; next <= ahead_; ++next) fetch(next);
}

}  // namespace millrace
