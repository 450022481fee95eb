// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/ring/ring_layout.hpp"

#include <gtest/gtest.h>
#include <rte_ring.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/ring/spsc_ring.hpp"

namespace millrace {
namespace {

static_assert(sizeof(RingLayout) == sizeof(rte_ring) && alignof(RingLayout) == alignof(rte_ring));
static_assert(sizeof(RingLayout::name) == sizeof(rte_ring::name));
static_assert(offsetof(RingLayout, flags) == offsetof(rte_ring, flags));
static_assert(offsetof(RingLayout, memzone) == offsetof(rte_ring, memzone));
static_assert(offsetof(RingLayout, size) == offsetof(rte_ring, size));
static_assert(offsetof(RingLayout, mask) == offsetof(rte_ring, mask));
static_assert(offsetof(RingLayout, capacity) == offsetof(rte_ring, capacity));
static_assert(offsetof(RingLayout, producer) == offsetof(rte_ring, prod));
static_assert(offsetof(RingLayout, consumer) == offsetof(rte_ring, cons));
static_assert(offsetof(RingSide, head) == offsetof(rte_ring_headtail, head));
static_assert(offsetof(RingSide, tail) == offsetof(rte_ring_headtail, tail));
static_assert(offsetof(RingSide, sync_type) == offsetof(rte_ring_headtail, sync_type));

/// What a reader without DPDK finds in a ring.
std::vector<std::uint64_t> elements(const std::byte* memory) {
  const auto& ring = *reinterpret_cast<const RingLayout*>(memory);
  const auto* table = reinterpret_cast<const std::uint64_t*>(memory + sizeof(RingLayout));
  std::vector<std::uint64_t> found;
  for (std::uint32_t i = ring.consumer.tail; i != ring.producer.tail; ++i) {
    found.push_back(table[i & ring.mask]);
  }
  return found;
}

TEST(RingLayout, ShowsWhatIsInARingAtEveryPosition) {
  constexpr std::uint32_t kDepth = 8;
  alignas(kCacheLine) std::array<std::byte, sizeof(RingLayout) + kDepth * 8> memory{};
  ASSERT_EQ(SpscRing<std::uint64_t>::bytes(kDepth), memory.size());
  auto ring = SpscRing<std::uint64_t>::create(memory.data(), "links", kDepth);
  EXPECT_STREQ(reinterpret_cast<const RingLayout*>(memory.data())->name, "links");
  EXPECT_EQ(reinterpret_cast<const RingLayout*>(memory.data())->capacity, kDepth - 1);

  for (std::uint64_t turn = 1; turn < 40; ++turn) {
    const std::vector<std::uint64_t> words{turn << 32, turn << 32 | 1, turn << 32 | 2};
    ASSERT_TRUE(ring.push(words));
    EXPECT_EQ(elements(memory.data()), words) << "turn " << turn;
    std::array<std::uint64_t, 3> out{};
    ASSERT_EQ(ring.take(out, [](std::uint64_t) {}), 3u);
    EXPECT_TRUE(elements(memory.data()).empty()) << "turn " << turn;
  }
}

}  // namespace
}  // namespace millrace
