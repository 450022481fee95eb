// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/layout/neighbour_table.hpp"

namespace millrace {

inline constexpr std::uint64_t kTestSecret = 0x0123456789abcdef;

/// A table that child processes share.
class NeighbourMemory {
 public:
  explicit NeighbourMemory(std::uint32_t entry_count = kNeighbourCountMin)
      : bytes_(neighbour_table_bytes(entry_count)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    MILLRACE_CHECK(memory_ != MAP_FAILED);
    table().init(kTestSecret);
  }
  ~NeighbourMemory() { munmap(memory_, bytes_); }
  NeighbourMemory(const NeighbourMemory&) = delete;
  NeighbourMemory& operator=(const NeighbourMemory&) = delete;

  NeighbourTableView table() const { return NeighbourTableView(span()); }
  std::span<std::byte> span() const { return {static_cast<std::byte*>(memory_), bytes_}; }
  NeighbourEntry& entry(std::uint32_t number) const {
    return reinterpret_cast<NeighbourEntry*>(span().data() + sizeof(NeighbourHeader))[number];
  }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// IPv4 for even numbers, IPv6 for odd ones.
inline NeighbourKey neighbour_key(std::uint32_t number) {
  NeighbourKey key;
  key.port = static_cast<std::uint16_t>(number % 3);
  std::size_t at = 0;
  key.family = NeighbourFamily::kIpv4;
  if (number % 2 == 1) {
    key.family = NeighbourFamily::kIpv6;
    key.address = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb};
    at = 12;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    key.address[at + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  }
  return key;
}

/// The MAC says whose it is, so one of another address is seen.
inline MacAddress mac_of(std::uint32_t number, std::uint8_t variant = 0) {
  return {0x02,
          variant,
          static_cast<std::uint8_t>(number >> 24),
          static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number)};
}

/// Numbers of `count` keys that all begin at entry `home` of the smallest table.
inline std::vector<std::uint32_t> numbers_at(std::uint32_t home, std::size_t count) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 1; numbers.size() < count; ++number) {
    const auto words = NeighbourKeyWords::of(neighbour_key(number));
    if (words.hash(kTestSecret) % kNeighbourCountMin == home) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace millrace
