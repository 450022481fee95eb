// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"

/// What an rte_ring looks like to code that cannot include DPDK's headers: a GPU kernel that takes
/// descriptors. Elements of 8 bytes lie behind it, element number n in entry n & mask. A test holds
/// it against DPDK's own struct.

namespace millrace {

/// One side. `head` is ahead of `tail` while a push or take is under way.
struct alignas(kCacheLine) RingSide {
  std::uint32_t head;
  std::uint32_t tail;  ///< producer: what may be read ends here; consumer: what may be written
  std::uint32_t sync_type;
  std::uint32_t padding_0;
  std::uint64_t padding_1[6];
};
static_assert(sizeof(RingSide) == 64 && alignof(RingSide) == 64);
static_assert(offsetof(RingSide, head) == 0 && offsetof(RingSide, tail) == 4);
static_assert(offsetof(RingSide, sync_type) == 8);

struct alignas(kCacheLine) RingLayout {
  char name[29];
  char padding_name[3];
  std::int32_t flags;
  std::uint32_t padding_0;
  std::uint64_t memzone;   ///< of the process that made the ring; not for others
  std::uint32_t size;      ///< entries; a power of two
  std::uint32_t mask;      ///< size - 1
  std::uint32_t capacity;  ///< entries that can be used
  std::uint32_t padding_1;
  std::uint64_t padding_2[8];
  RingSide producer;
  std::uint64_t padding_3[8];
  RingSide consumer;
  std::uint64_t padding_4[8];
};
static_assert(sizeof(RingLayout) == 384 && alignof(RingLayout) == 64);
static_assert(offsetof(RingLayout, name) == 0 && offsetof(RingLayout, flags) == 32);
static_assert(offsetof(RingLayout, memzone) == 40);
static_assert(offsetof(RingLayout, size) == 48 && offsetof(RingLayout, mask) == 52);
static_assert(offsetof(RingLayout, capacity) == 56);
static_assert(offsetof(RingLayout, producer) == 128 && offsetof(RingLayout, consumer) == 256);

}  // namespace millrace
