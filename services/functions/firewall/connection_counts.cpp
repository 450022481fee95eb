// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/firewall/connection_counts.hpp"

#include <cstddef>
#include <span>

#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kCountBits = 24;  ///< as many as a FlowTable has flows
constexpr std::uint32_t kCountMax = (1u << kCountBits) - 1;
constexpr std::uint32_t kEntriesOfLine = 3, kLinesOfBucket = 2;

/// Half of the places of `sources` are free.
constexpr std::uint32_t buckets_for(std::uint32_t sources) noexcept {
  return sources / kEntriesOfLine + 1;
}

}  // namespace

struct ConnectionCounts::Head {
  std::uint64_t secret[2];  ///< all zero: nothing is laid out so far
  std::uint32_t sources, buckets;
  SourceNetwork networks[kSlots];
  std::uint8_t padding[10];
  // The second line.
  std::uint32_t groups[kSlots];
  std::uint32_t padding_behind;
  // The third.
  std::uint32_t connections[kSlots];  ///< that are counted; 0: the slot is free
  std::uint32_t used;                 ///< entries
};

/// A count of an address; `word`: tag << kCountBits | count, 0: free.
struct ConnectionCounts::Entry {
  Ipv6Bytes address;
  std::uint32_t word;
};

namespace {

template <typename Entry>
struct Line {
  Entry entries[kEntriesOfLine];
  std::uint32_t padding;
};

template <typename Entry>
struct Bucket {
  Line<Entry> lines[kLinesOfBucket];
};

}  // namespace

std::uint64_t ConnectionCounts::bytes_for(std::uint32_t sources) noexcept {
  static_assert(sizeof(Head) == 3 * kCacheLine && offsetof(Head, groups) == kCacheLine &&
                offsetof(Head, connections) == 2 * kCacheLine);
  static_assert(sizeof(Line<Entry>) == kCacheLine);
  return sizeof(Head) + std::uint64_t{buckets_for(sources)} * sizeof(Bucket<Entry>);
}

std::optional<ConnectionCounts> ConnectionCounts::of_lane(
    const LaneState& state, std::uint32_t sources,
    const std::array<std::uint64_t, 2>& secret) noexcept {
  if (auto there = laid_out(state)) return there;
  if (state.bytes.size() < bytes_for(sources)) return std::nullopt;
  Head& head = *reinterpret_cast<Head*>(state.change(0, kCacheLine).data());
  head.sources = sources;
  head.buckets = buckets_for(sources);
  head.secret[0] = secret[0];
  head.secret[1] = secret[1];
  return ConnectionCounts(state);
}

std::optional<ConnectionCounts> ConnectionCounts::laid_out(const LaneState& state) noexcept {
  if (state.bytes.size() < sizeof(Head)) return std::nullopt;
  const ConnectionCounts counts(state);
  if ((counts.head().secret[0] | counts.head().secret[1]) == 0) return std::nullopt;
  return counts;
}

ConnectionCounts::Head& ConnectionCounts::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data());
}

ConnectionCounts::Head& ConnectionCounts::change_counts() const noexcept {
  state_.change(offsetof(Head, connections), kCacheLine);
  return head();
}

std::optional<std::uint8_t> ConnectionCounts::slot_of(std::uint32_t group) const noexcept {
  for (std::uint8_t slot = 0; slot < kSlots; ++slot) {
    if (head().groups[slot] == group && head().connections[slot] != 0) return slot;
  }
  return std::nullopt;
}

/// That of the group, or a free one.
std::optional<std::uint8_t> ConnectionCounts::slot_for(std::uint32_t group) const noexcept {
  if (const auto slot = slot_of(group)) return slot;
  for (std::uint8_t slot = 0; slot < kSlots; ++slot) {
    if (head().connections[slot] == 0) return slot;
  }
  return std::nullopt;
}

/// Its source's, with a count of 0.
ConnectionCounts::Entry ConnectionCounts::entry_for(std::uint8_t slot, std::uint32_t group,
                                                    const SourceNetwork& network,
                                                    const FlowTuple& tuple) noexcept {
  const bool of_source = (group & 1) != 0;
  const std::uint32_t version = of_source ? tuple.version : 0u;
  return {.address = of_source ? network.of(tuple.source, version) : Ipv6Bytes{},
          .word = (1 + slot + kSlots * (version / 2)) << kCountBits};
}

ConnectionCounts::Place ConnectionCounts::look(const Entry& wanted) const noexcept {
  const std::uint64_t hash =
      siphash13(std::as_bytes(std::span(&wanted, 1)), {head().secret[0], head().secret[1]});
  auto* const buckets = reinterpret_cast<Bucket<Entry>*>(state_.bytes.data() + sizeof(Head));
  Place place;
  std::uint32_t most_free = 0;
  for (const std::uint64_t half : {hash & UINT32_MAX, hash >> 32}) {
    std::uint32_t free_here = 0;
    Entry* free = nullptr;
    for (Line<Entry>& line : buckets[half * head().buckets >> 32].lines) {
      for (Entry& entry : line.entries) {
        if (entry.word == 0) {
          free = &entry;
          ++free_here;
        } else if (entry.word >> kCountBits == wanted.word >> kCountBits &&
                   entry.address == wanted.address) {
          return {.entry = &entry, .free = nullptr};
        }
      }
    }
    if (free_here <= most_free) continue;
    most_free = free_here;
    place.free = free;
  }
  if (head().used >= head().sources) place.free = nullptr;
  return place;
}

std::optional<std::uint32_t> ConnectionCounts::count(std::uint32_t group, const FlowTuple& tuple,
                                                     const SourceNetwork& network) const noexcept {
  const auto slot = slot_for(group);
  if (!slot) return std::nullopt;
  const Place place = look(entry_for(*slot, group, network, tuple));
  if (place.entry != nullptr) return place.entry->word & kCountMax;
  return place.free != nullptr ? std::optional(0u) : std::nullopt;
}

std::optional<std::uint8_t> ConnectionCounts::add(std::uint32_t group, const FlowTuple& tuple,
                                                  const SourceNetwork& network) const noexcept {
  const auto slot = slot_for(group);
  if (!slot) return std::nullopt;
  const Entry wanted = entry_for(*slot, group, network, tuple);
  const Place place = look(wanted);
  Entry* const entry = place.entry != nullptr ? place.entry : place.free;
  if (entry == nullptr || (entry->word & kCountMax) == kCountMax) return std::nullopt;
  Head& counts = change_counts();
  if (counts.connections[*slot] == 0) {
    state_.change(offsetof(Head, groups), kCacheLine);
    counts.groups[*slot] = group;
    state_.change(0, kCacheLine);
    counts.networks[*slot] = network;
  }
  ++counts.connections[*slot];
  state_.change(*entry);
  if (place.entry == nullptr) {
    *entry = wanted;
    ++counts.used;
  }
  ++entry->word;
  return slot;
}

void ConnectionCounts::remove(std::uint8_t slot, const FlowTuple& tuple) const noexcept {
  if (slot >= kSlots || head().connections[slot] == 0) return;
  Entry* const entry =
      look(entry_for(slot, head().groups[slot], head().networks[slot], tuple)).entry;
  if (entry == nullptr) return;
  Head& counts = change_counts();
  --counts.connections[slot];
  state_.change(*entry);
  --entry->word;
  if ((entry->word & kCountMax) != 0) return;
  *entry = {};
  --counts.used;
}

}  // namespace millrace
