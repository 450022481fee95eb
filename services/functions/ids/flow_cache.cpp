// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/flow_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "services/functions/flow/same_tuple.hpp"
#include "shared/base/random_secret.hpp"
#include "shared/base/siphash.hpp"

namespace millrace {

namespace {

/// Bytes of the lists of rules of a flow that is gone, which the next one gets: 1 KiB of all four.
constexpr std::size_t kRoomKept = 256;
// Of all bytes one flow has a part of kShareOfOne, or kLeastOfOne: a long request and its answer.
constexpr std::size_t kShareOfOne = 16, kLeastOfOne = 512u << 10;

std::size_t most_of_one(std::size_t bytes) noexcept {
  return std::min(bytes, std::max(bytes / kShareOfOne, kLeastOfOne));
}

}  // namespace

FlowCache::FlowCache(std::uint32_t flows, std::size_t bytes_max)
    : secret_(random_secret()),
      places_(flows),
      buckets_(std::bit_ceil(flows), kNone),
      bytes_max_(bytes_max) {
  for (std::uint32_t place = 0; place < flows; ++place) put_oldest(place);
}

std::uint32_t& FlowCache::bucket_of(const FlowTuple& tuple) noexcept {
  const std::uint64_t hash = siphash13(std::as_bytes(std::span(&tuple, 1)), secret_);
  return buckets_[hash & (buckets_.size() - 1)];
}

std::uint32_t FlowCache::place_of(const FlowTuple& tuple) noexcept {
  std::uint32_t place = bucket_of(tuple);
  while (place != kNone && !is_same_tuple(places_[place].flow.tuple, tuple)) {
    place = places_[place].next_of_bucket;
  }
  return place;
}

void FlowCache::leave_bucket(std::uint32_t place) noexcept {
  std::uint32_t* word = &bucket_of(places_[place].flow.tuple);
  while (*word != place) word = &places_[*word].next_of_bucket;
  *word = places_[place].next_of_bucket;
  places_[place].is_used = false;
}

void FlowCache::leave_order(std::uint32_t place) noexcept {
  const Place& left = places_[place];
  if (oldest_full_ == place) oldest_full_ = left.younger;
  (left.younger == kNone ? youngest_ : places_[left.younger].older) = left.older;
  (left.older == kNone ? oldest_ : places_[left.older].younger) = left.younger;
}

void FlowCache::put_youngest(std::uint32_t place) noexcept {
  places_[place].younger = kNone;
  places_[place].older = youngest_;
  (youngest_ == kNone ? oldest_ : places_[youngest_].younger) = place;
  youngest_ = place;
  if (oldest_full_ == kNone) oldest_full_ = place;
}

void FlowCache::put_oldest(std::uint32_t place) noexcept {
  places_[place].older = kNone;
  places_[place].younger = oldest_;
  (oldest_ == kNone ? youngest_ : places_[oldest_].older) = place;
  oldest_ = place;
}

void FlowCache::take_room_of(CachedFlow& flow) noexcept {
  empty(flow);
  flow.has_made_room = true;
  ++emptied_;
}

/// Some of its memory stays for the next flow: kRoomKept of each list at most.
void FlowCache::empty(CachedFlow& flow) noexcept {
  flow.id = 0;
  flow.session.reset();
  for (PendingRules& pending : flow.pending) {
    if (pending.capacity() * sizeof(PendingRule) > kRoomKept) PendingRules().swap(pending);
    pending.clear();
  }
  for (FlowRules& rules : flow.rules) {
    if (rules.held() > kRoomKept) rules = {};
    rules.clear();
  }
  held_ -= std::exchange(flow.held, 0);
}

/// A packet asks for its flow several times.
bool FlowCache::is_youngest(const FlowTuple& tuple) const noexcept {
  const Place& place = places_[youngest_];
  return place.is_used && is_same_tuple(place.flow.tuple, tuple);
}

CachedFlow* FlowCache::find(const FlowTuple& tuple) noexcept {
  if (is_youngest(tuple)) return &places_[youngest_].flow;
  const std::uint32_t place = place_of(tuple);
  if (place == kNone) return nullptr;
  leave_order(place);
  put_youngest(place);
  return &places_[place].flow;
}

CachedFlow& FlowCache::begin(const FlowTuple& tuple) noexcept {
  std::uint32_t place = place_of(tuple);
  if (place == kNone) {
    place = oldest_;
    if (places_[place].is_used) {
      leave_bucket(place);
      ++replaced_;
    }
    std::uint32_t& bucket = bucket_of(tuple);
    places_[place].next_of_bucket = bucket;
    places_[place].is_used = true;
    bucket = place;
  }
  leave_order(place);
  put_youngest(place);
  CachedFlow& flow = places_[place].flow;
  empty(flow);
  flow.has_made_room = false;
  flow.start = {};
  flow.position = flow.base = {};
  flow.fin = {};
  flow.tuple = tuple;
  return flow;
}

void FlowCache::forget(const FlowTuple& tuple) noexcept {
  const std::uint32_t place = place_of(tuple);
  if (place == kNone) return;
  leave_bucket(place);
  leave_order(place);
  put_oldest(place);
  empty(places_[place].flow);
}

void FlowCache::weigh(CachedFlow& flow) noexcept {
  std::size_t bytes = flow.session ? flow.session->held() : 0;
  for (const PendingRules& pending : flow.pending) {
    bytes += pending.capacity() * sizeof(PendingRule);
  }
  for (const FlowRules& rules : flow.rules) bytes += rules.held();
  held_ = held_ - flow.held + bytes;
  flow.held = bytes;
  if (bytes > most_of_one(bytes_max_)) take_room_of(flow);
  while (held_ > bytes_max_ && oldest_full_ != kNone) {
    CachedFlow& oldest = places_[oldest_full_].flow;
    oldest_full_ = places_[oldest_full_].younger;
    if (oldest.held != 0) take_room_of(oldest);
  }
}

}  // namespace millrace
