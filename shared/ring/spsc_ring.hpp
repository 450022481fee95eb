// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/recovery/hooks.hpp"

/// View of an rte_ring with one producer and one consumer that lies in shared memory and outlives
/// both. Element: a trivially copyable 4- or 8-byte value. Push and take are zero-copy sections
/// (start, copy, finish), so that a take can stamp ownership between reading and finishing: what is
/// in a ring belongs to the ring.
///
/// A killed side leaves its head ahead of its tail. repair_*() puts head = tail: an unfinished push
/// never happened, an unfinished take is offered again. Only recovery calls it, when that side's
/// exit is certain.

namespace millrace {

template <typename Element>
class SpscRing {
 public:
  static_assert(sizeof(Element) == 4 || sizeof(Element) == 8);
  SpscRing() = default;
  explicit SpscRing(rte_ring* ring) : ring_(ring) {}

  /// Bytes that a ring of `depth` entries takes; a power of two, of which depth - 1 can be used.
  static std::size_t bytes(std::uint32_t depth) {
    return static_cast<std::size_t>(rte_ring_get_memsize_elem(sizeof(Element), depth));
  }
  static SpscRing create(std::byte* at, const char* name, std::uint32_t depth) {
    auto* ring = reinterpret_cast<rte_ring*>(at);
    MILLRACE_CHECK(rte_ring_init(ring, name, depth, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0);
    return SpscRing(ring);
  }

  bool empty() const noexcept { return ring_->prod.tail == ring_->cons.tail; }
  std::uint32_t size() const noexcept { return ring_->prod.tail - ring_->cons.tail; }

  /// Producer only. All or nothing; false when full.
  bool push(std::span<const Element> elements) noexcept {
    rte_ring_zc_data to;
    hook(HookPoint::kPushHead);
    const auto count = static_cast<unsigned>(elements.size());
    if (rte_ring_enqueue_zc_bulk_elem_start(ring_, sizeof(Element), count, &to, nullptr) == 0) {
      return false;
    }
    hook(HookPoint::kPushElement);
    copy(static_cast<Element*>(to.ptr1), elements.data(), to.n1);
    copy(static_cast<Element*>(to.ptr2), elements.data() + to.n1, count - to.n1);
    hook(HookPoint::kPushTail);
    rte_ring_enqueue_zc_elem_finish(ring_, count);
    return true;
  }

  /// Consumer only. Takes up to out.size() elements; `stamp(element)` writes the ownership of each
  /// before the ring lets go of it. Returns how many.
  template <typename Stamp>
  std::uint32_t take(std::span<Element> out, Stamp&& stamp) noexcept {
    if (empty()) return 0;
    rte_ring_zc_data from;
    hook(HookPoint::kTakeHead);
    const unsigned count = rte_ring_dequeue_zc_burst_elem_start(
        ring_, sizeof(Element), static_cast<unsigned>(out.size()), &from, nullptr);
    if (count == 0) return 0;
    copy(out.data(), static_cast<const Element*>(from.ptr1), from.n1);
    copy(out.data() + from.n1, static_cast<const Element*>(from.ptr2), count - from.n1);
    for (unsigned i = 0; i < count; ++i) {
      hook(HookPoint::kTakeOwner);
      stamp(out[i]);
    }
    hook(HookPoint::kTakeTail);
    rte_ring_dequeue_zc_elem_finish(ring_,
                                    count);  // a release: the stamps are visible before the tail
    return count;
  }

  // Recovery, when the side's exit is certain.
  void repair_producer() noexcept { ring_->prod.head = ring_->prod.tail; }
  void repair_consumer() noexcept { ring_->cons.head = ring_->cons.tail; }
  /// What lies in the ring. The other side may go on meanwhile: an element that it moves may be
  /// seen or not.
  void snapshot(std::vector<Element>& out) const {
    const auto* table = reinterpret_cast<const Element*>(ring_ + 1);
    const std::uint32_t end = ring_->prod.tail;
    rte_smp_rmb();
    for (std::uint32_t i = ring_->cons.tail; i != end && end - i <= ring_->capacity; ++i) {
      out.push_back(table[i & ring_->mask]);
    }
  }
  /// Empties it. Both sides' exits are certain, or both have said that they let go of it.
  void reset() noexcept { rte_ring_reset(ring_); }

 private:
  static void copy(Element* to, const Element* from, unsigned count) noexcept {
    for (unsigned i = 0; i < count; ++i) to[i] = from[i];
  }
  rte_ring* ring_ = nullptr;
};

}  // namespace millrace
