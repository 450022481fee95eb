// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/side_pool.hpp"

#include "shared/base/check.hpp"
#include "shared/base/hooks.hpp"

namespace millrace {

SidePool::SidePool(const ActorContext& context)
    : context_(context),
      area_(context.segment.buffers()),
      first_(side_buffers_of(*context.plan, context.plan->actors[context.me.actor].index)),
      size_(context.plan->side_count),
      hand_(Mark{MarkKind::kHand, context.me.actor}.word()),
      used_(Mark{MarkKind::kSide, context.plan->actors[context.me.actor].index}.word()),
      stack_(size_) {
  find_free();
}

/// Scans the marks. Finds also buffers that recovery has given back, as it marks them free.
void SidePool::find_free() noexcept {
  count_ = 0;
  for (std::uint32_t i = size_; i-- > 0;) {
    if (context_.segment.mark(first_ + i) == hand_) stack_[count_++] = first_ + i;
  }
}

std::uint32_t SidePool::take() noexcept {
  if (count_ == 0) find_free();
  if (count_ == 0) return kNone;
  const std::uint32_t buffer = stack_[--count_];
  hook(HookPoint::kSideMark);
  context_.segment.mark(buffer) = used_;
  return buffer;
}

void SidePool::put(std::uint32_t buffer) noexcept {
  MILLRACE_CHECK(buffer - first_ < size_ && count_ < size_);
  hook(HookPoint::kSideMark);
  context_.segment.mark(buffer) = hand_;
  stack_[count_++] = buffer;
}

}  // namespace millrace
