// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/rule_counts.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "shared/base/check.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kCountsOfBucket = 8;

struct Key {
  FlowTuple about{};  ///< what the rule does not track is zero
  RuleCounts::Use use{};
};
static_assert(std::has_unique_object_representations_v<Key>);

/// The same for both directions.
FlowTuple undirected(const FlowTuple& tuple) noexcept {
  const auto of = [](const FlowTuple& one) { return std::tie(one.source, one.source_port); };
  const FlowTuple back = reversed(tuple);
  return of(back) < of(tuple) ? back : tuple;
}

FlowTuple tracked(TrackBy by, const FlowTuple& tuple) noexcept {
  FlowTuple about{.version = tuple.version};
  switch (by) {
    case TrackBy::kSource:
      about.source = tuple.source;
      break;
    case TrackBy::kDestination:
      about.destination = tuple.destination;
      break;
    case TrackBy::kBoth:
      about.source = std::min(tuple.source, tuple.destination);
      about.destination = std::max(tuple.source, tuple.destination);
      break;
    case TrackBy::kRule:
      return {};
    case TrackBy::kFlow:
      return undirected(tuple);
  }
  return about;
}

/// No rule has so many thresholds.
RuleCounts::Use use_of(const HostBit& bit) noexcept {
  constexpr unsigned kHalf = 32;
  return {.gid = static_cast<std::uint32_t>(bit.name >> kHalf),
          .sid = static_cast<std::uint32_t>(bit.name),
          .number = UINT32_MAX};
}

constexpr std::uint32_t buckets_for(std::uint32_t counts) noexcept {
  return (counts + kCountsOfBucket - 1) / kCountsOfBucket;
}

/// What the `count`th match within the time is to the rule; `count` goes to 0 where the next one
/// counts from the start.
Counted meaning_of(const Threshold& threshold, std::uint32_t& count) noexcept {
  switch (threshold.kind) {
    case Threshold::Kind::kLimit:
      return count <= threshold.count ? Counted::kCounts : Counted::kBeyond;
    case Threshold::Kind::kThreshold:
      if (count < threshold.count) return Counted::kNotYet;
      count = 0;
      return Counted::kCounts;
    case Threshold::Kind::kBoth:
      if (count < threshold.count) return Counted::kNotYet;
      return count == threshold.count ? Counted::kCounts : Counted::kBeyond;
    case Threshold::Kind::kDetectionFilter:
      return count > threshold.count ? Counted::kCounts : Counted::kNotYet;
  }
  return Counted::kCounts;
}

}  // namespace

struct RuleCounts::Head {
  std::uint64_t secret[2];  ///< all zero: nothing is laid out so far
  std::uint64_t padding[6];
};

struct RuleCounts::Count {
  std::uint64_t tag;      ///< hash of its Key; 0: free
  std::uint32_t since_s;  ///< the time begins
  std::uint32_t matches;  ///< in it; of a bit of a host: the seconds for which it is set
};

std::uint64_t RuleCounts::bytes_for(std::uint32_t counts) noexcept {
  static_assert(sizeof(Head) == kCacheLine);
  static_assert(kCountsOfBucket * sizeof(Count) == 2 * kCacheLine);
  return sizeof(Head) + std::uint64_t{buckets_for(counts)} * kCountsOfBucket * sizeof(Count);
}

RuleCounts::RuleCounts(const LaneState& state, std::uint64_t at, std::uint32_t counts,
                       const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state), at_(at), counts_(counts) {
  MILLRACE_CHECK(counts >= 1 && at % kCacheLine == 0 &&
                 state.bytes.size() >= at + bytes_for(counts));
  if ((head().secret[0] | head().secret[1]) != 0) return;
  Head& head = state_.change(this->head());
  head.secret[0] = secret[0];
  head.secret[1] = secret[1];
}

RuleCounts::Head& RuleCounts::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data() + at_);
}

/// That of the tag, or a free one, or the one that began first.
RuleCounts::Count& RuleCounts::place_of(std::uint64_t tag) const noexcept {
  auto* const counts = reinterpret_cast<Count*>(state_.bytes.data() + at_ + sizeof(Head));
  const std::span<Count> bucket(
      counts + ((tag >> 32) * buckets_for(counts_) >> 32) * kCountsOfBucket, kCountsOfBucket);
  Count* oldest = bucket.data();
  for (Count& count : bucket) {
    if (count.tag == tag) return count;
    if (oldest->tag == 0) continue;
    if (count.tag == 0 || count.since_s < oldest->since_s) oldest = &count;
  }
  return *oldest;
}

std::uint64_t RuleCounts::tag_of(const Use& use, TrackBy by,
                                 const FlowTuple& tuple) const noexcept {
  const Key key{.about = tracked(by, tuple), .use = use};
  const std::uint64_t hash =
      siphash13(std::as_bytes(std::span(&key, 1)), {head().secret[0], head().secret[1]});
  return std::max<std::uint64_t>(hash, 1);
}

/// A host is the same one whether a packet comes from it or goes to it.
std::uint64_t RuleCounts::tag_of(const HostBit& bit, const FlowTuple& tuple) const noexcept {
  if (bit.by != TrackBy::kDestination) return tag_of(use_of(bit), bit.by, tuple);
  return tag_of(use_of(bit), TrackBy::kSource, reversed(tuple));
}

bool RuleCounts::bit(const HostBit& bit, const FlowTuple& tuple,
                     std::uint32_t now_s) const noexcept {
  const std::uint64_t tag = tag_of(bit, tuple);
  const Count& count = place_of(tag);
  return count.tag == tag && now_s - count.since_s < count.matches;
}

void RuleCounts::set_bit(const HostBit& bit, bool value, const FlowTuple& tuple,
                         std::uint32_t now_s) noexcept {
  const std::uint64_t tag = tag_of(bit, tuple);
  Count& place = place_of(tag);
  if (value) {
    state_.change(place) = {.tag = tag, .since_s = now_s, .matches = bit.seconds};
  } else if (place.tag == tag) {
    state_.change(place) = {};
  }
}

Counted RuleCounts::count(const Use& use, const Threshold& threshold, const FlowTuple& tuple,
                          std::uint32_t now_s) noexcept {
  const std::uint64_t tag = tag_of(use, threshold.by, tuple);
  Count& count = state_.change(place_of(tag));
  if (count.tag != tag || now_s - count.since_s >= threshold.seconds) {
    count = {.tag = tag, .since_s = now_s, .matches = 0};
  }
  count.matches += count.matches == UINT32_MAX ? 0 : 1;
  return meaning_of(threshold, count.matches);
}

}  // namespace millrace
