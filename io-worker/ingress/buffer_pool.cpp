// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ingress/buffer_pool.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {

BufferPool::BufferPool(const ActorContext& context, std::uint32_t stream)
    : context_(context),
      first_(context.plan->streams[stream].buffer_first),
      count_(context.plan->streams[stream].buffer_count),
      hand_(Mark{MarkKind::kHand, context.me.actor}.word()),
      held_(Mark{MarkKind::kRx, stream}.word()),
      stack_(count_),
      free_(count_, 0) {
  // A process that died inside a take has left its marks on buffers that a return ring still holds.
  std::vector<std::uint32_t> in_rings;
  for (std::uint32_t r = 0; r < kReturnerCount; ++r) {
    returned_[r] = context_.segment.buffer_return(stream, static_cast<Returner>(r));
    returned_[r].snapshot(in_rings);
  }
  std::vector<bool> returned(count_, false);
  for (const std::uint32_t buffer : in_rings) {
    MILLRACE_CHECK(buffer - first_ < count_);
    returned[buffer - first_] = true;
  }
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (returned[i] || context_.segment.mark(first_ + i) != hand_) continue;
    free_[i] = 1;
    stack_[stacked_++] = first_ + i;
  }
}

void BufferPool::put(std::span<const std::uint32_t> buffers) noexcept {
  if (exact_) {
    for (const std::uint32_t buffer : buffers) free_[buffer - first_] = 1;
    return;
  }
  MILLRACE_CHECK(buffers.size() <= count_ - stacked_);
  std::ranges::copy(buffers, stack_.data() + stacked_);
  stacked_ += static_cast<std::uint32_t>(buffers.size());
}

void BufferPool::collect() noexcept {
  for (auto& ring : returned_) collect_from(ring);
}

void BufferPool::collect_newest() noexcept {
  if (!exact_) collect_from(returned_[static_cast<std::size_t>(Returner::kEgress)]);
}

/// Moves at most kBurstMax buffers from the ring onto the stack.
void BufferPool::collect_from(SpscRing<std::uint32_t>& ring) noexcept {
  const auto stamp = [this](std::span<const std::uint32_t> taken) {
    std::uint32_t highest = 0;
    for (const std::uint32_t buffer : taken) highest = std::max(highest, buffer - first_);
    MILLRACE_CHECK(highest < count_);
    // Local copies: the compiler would read members again after each store.
    std::uint32_t* const marks = &context_.segment.mark(0);
    const std::uint32_t hand = hand_;
    for (const std::uint32_t buffer : taken) {
      hook(HookPoint::kTakeOwner);
      marks[buffer] = hand;
    }
  };
  // In exact mode the stack is only the place to which they are copied.
  const std::span<std::uint32_t> room = std::span(stack_).subspan(exact_ ? 0 : stacked_);
  const std::uint32_t count =
      ring.take(room.first(std::min<std::size_t>(room.size(), kBurstMax)), stamp);
  if (exact_) {
    put(room.first(count));
  } else {
    stacked_ += count;
  }
}

std::uint32_t BufferPool::free() const noexcept {
  std::uint32_t count = stacked_;
  if (exact_) count = static_cast<std::uint32_t>(std::count(free_.begin(), free_.end(), 1));
  for (const auto& ring : returned_) count += ring.size();
  return count;
}

std::uint32_t BufferPool::take(std::span<std::uint32_t> out) noexcept {
  const auto wanted = static_cast<std::uint32_t>(out.size());
  if (stacked_ < wanted) collect();
  const std::uint32_t count = std::min(wanted, stacked_);
  stacked_ -= count;
  const std::uint32_t* const bottom = stack_.data() + stacked_;
  std::reverse_copy(bottom, bottom + count, out.begin());
  return count;
}

bool BufferPool::take_exactly(std::uint32_t buffer) noexcept {
  exact_ = true;
  if (free_[buffer - first_] == 0) collect();
  if (free_[buffer - first_] == 0) return false;
  free_[buffer - first_] = 0;
  return true;
}

std::uint32_t BufferPool::take_run(std::uint32_t first, std::uint32_t count) noexcept {
  exact_ = true;
  std::uint8_t* const begin = free_.data() + (first - first_);
  const auto count_free = [&] {
    const auto* end = static_cast<const std::uint8_t*>(std::memchr(begin, 0, count));
    return end == nullptr ? count : static_cast<std::uint32_t>(end - begin);
  };
  std::uint32_t taken = count_free();
  if (taken < count) {
    collect();
    taken = count_free();
  }
  std::fill_n(begin, taken, 0);
  return taken;
}

void BufferPool::give_back(std::span<const std::uint32_t> buffers) noexcept {
  for (const std::uint32_t buffer : buffers) context_.segment.mark(buffer) = hand_;
  put(buffers);
}

void BufferPool::hold(std::span<const std::uint32_t> buffers) noexcept {
  std::uint32_t* const marks = &context_.segment.mark(0);
  const std::uint32_t held = held_;
  for (const std::uint32_t buffer : buffers) {
    hook(HookPoint::kHoldMark);
    marks[buffer] = held;
  }
}

}  // namespace millrace
