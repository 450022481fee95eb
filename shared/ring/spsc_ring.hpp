// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/base/hooks.hpp"

/// View of an rte_ring with one producer and one consumer that lies in shared memory and outlives
/// both. Element: a trivially copyable 4- or 8-byte value. What is in a ring belongs to the ring: a
/// take stamps ownership between reading an element and letting it go.
///
/// The layout is DPDK's, the two operations are ours, for two reasons. rte_ring reads the other
/// side's tail in each of them, a line that the other core has just written (130 ns on a server of
/// 2023); a view remembers the tail that it saw last, and looks again only when that one does not
/// do. A producer's view knows its own tail too, whose line the consumer polls: one view pushes.
/// And head and tail move in one store here, at the end: a killed side leaves nothing half done, an
/// unfinished push never happened, an unfinished take is offered again. Indexes never run
/// backwards, so a remembered tail stays true.

namespace millrace {

template <typename Element>
class SpscRing {
 public:
  static_assert(sizeof(Element) == 4 || sizeof(Element) == 8);
  SpscRing() = default;
  explicit SpscRing(rte_ring* ring)
      : ring_(ring),
        produced_(ring->prod.tail),
        seen_produced_(ring->cons.tail),
        seen_consumed_(ring->cons.tail) {}

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
    const auto count = static_cast<std::uint32_t>(elements.size());
    const std::uint32_t at = produced_;
    if (room_behind(at) < count) {
      seen_consumed_ = load(ring_->cons.tail);
      if (room_behind(at) < count) return false;
    }
    hook(HookPoint::kPushElement);
    write(at, elements);
    hook(HookPoint::kPushTail);
    move(ring_->prod, at + count);
    produced_ = at + count;
    return true;
  }

  /// Consumer only. Takes up to out.size() elements; `stamp(element)` writes the ownership of each
  /// before the ring lets go of it. One that takes a span is called once, with all of them, and has
  /// the hook of each store. Returns how many.
  template <typename Stamp>
  std::uint32_t take(std::span<Element> out, Stamp&& stamp) noexcept {
    const std::uint32_t at = ring_->cons.tail;
    const std::uint32_t count = available_from(at, static_cast<std::uint32_t>(out.size()));
    if (count == 0) return 0;
    const std::span<Element> taken = out.first(count);
    read(at, taken);
    if constexpr (std::is_invocable_v<Stamp&, std::span<const Element>>) {
      stamp(std::span<const Element>(taken));
    } else {
      for (const Element element : taken) {
        hook(HookPoint::kTakeOwner);
        stamp(element);
      }
    }
    hook(HookPoint::kTakeTail);
    move(ring_->cons, at + count);  // the stamps are visible before it
    return count;
  }

  /// Consumer only. A look at the next element, which stays where it is; false when there is none.
  bool peek(Element& element) noexcept {
    const std::uint32_t at = ring_->cons.tail;
    if (available_from(at, 1) == 0) return false;
    element = table()[at & ring_->mask];
    return true;
  }

  /// Consumer only: elements that it knows of, without a look at the other side. Right after it had
  /// to look, that is all there were.
  std::uint32_t seen() const noexcept {
    const auto there = static_cast<std::int32_t>(seen_produced_ - ring_->cons.tail);
    return there <= 0 ? 0 : static_cast<std::uint32_t>(there);
  }

  /// What lies in the ring. The other side may go on meanwhile: an element that it moves may be
  /// seen or not.
  void snapshot(std::vector<Element>& out) const {
    const std::uint32_t end = load(ring_->prod.tail);
    for (std::uint32_t i = ring_->cons.tail; i != end && end - i <= ring_->capacity; ++i) {
      out.push_back(table()[i & ring_->mask]);
    }
  }
  /// Empties it. Both sides' exits are certain, or both have said that they let go of it.
  void reset() noexcept { move(ring_->cons, ring_->prod.tail); }

 private:
  static std::uint32_t load(const volatile std::uint32_t& index) noexcept {
    return __atomic_load_n(&index, __ATOMIC_ACQUIRE);
  }
  /// Head and tail in one store, a release.
  static void move(rte_ring_headtail& side, std::uint32_t to) noexcept {
    static_assert(offsetof(rte_ring_headtail, head) == 0 && offsetof(rte_ring_headtail, tail) == 4);
    auto* both = reinterpret_cast<volatile std::uint64_t*>(&side);
    __atomic_store_n(both, std::uint64_t{to} << 32 | to, __ATOMIC_RELEASE);
  }
  Element* table() const noexcept { return reinterpret_cast<Element*>(ring_ + 1); }
  // Up to the table's end and then from its start, so that no index needs the mask and many
  // elements go at a time. One is the usual case of links.
  void write(std::uint32_t at, std::span<const Element> elements) const noexcept {
    Element* const to = table() + (at & ring_->mask);
    if (elements.size() == 1) {
      *to = elements[0];
      return;
    }
    const std::size_t straight = straight_from(at, elements.size());
    std::copy_n(elements.begin(), straight, to);
    std::copy(elements.begin() + straight, elements.end(), table());
  }
  void read(std::uint32_t at, std::span<Element> out) const noexcept {
    const Element* const from = table() + (at & ring_->mask);
    if (out.size() == 1) {
      out[0] = *from;
      return;
    }
    const std::size_t straight = straight_from(at, out.size());
    std::copy_n(from, straight, out.begin());
    std::copy_n(table(), out.size() - straight, out.begin() + straight);
  }
  std::size_t straight_from(std::uint32_t at, std::size_t count) const noexcept {
    return std::min<std::size_t>(count, ring_->size - (at & ring_->mask));
  }
  std::uint32_t room_behind(std::uint32_t head) const noexcept {
    return ring_->capacity - (head - seen_consumed_);
  }
  /// Elements from `at` on, as far as `wanted` needs it.
  std::uint32_t available_from(std::uint32_t at, std::uint32_t wanted) noexcept {
    // Signed: recovery may have moved `at` past what was seen.
    if (static_cast<std::int32_t>(seen_produced_ - at) < static_cast<std::int32_t>(wanted)) {
      seen_produced_ = load(ring_->prod.tail);
    }
    const auto there = static_cast<std::int32_t>(seen_produced_ - at);
    return there <= 0 ? 0 : std::min(wanted, static_cast<std::uint32_t>(there));
  }

  rte_ring* ring_ = nullptr;
  std::uint32_t produced_ = 0;       ///< prod.tail, known to its one producer without reading it
  std::uint32_t seen_produced_ = 0;  ///< prod.tail, when the consumer looked last
  std::uint32_t seen_consumed_ = 0;  ///< cons.tail, when the producer looked last
};

}  // namespace millrace
