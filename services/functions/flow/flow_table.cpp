// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_table.hpp"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "services/functions/flow/flow_reference.hpp"
#include "services/functions/flow/same_tuple.hpp"
#include "services/functions/flow/tuple_hash.hpp"

namespace millrace {
namespace {

/// Two references a flow, at most two thirds of all places.
constexpr std::uint32_t buckets_for(std::uint32_t flows) noexcept {
  return std::bit_ceil(std::max(2u, (3 * flows + kReferences - 1) / kReferences));
}

}  // namespace

/// All zero at the start. Numbers + 1; 0: none.
struct FlowTable::Head {
  std::uint32_t count;             ///< flows
  std::uint32_t fresh;             ///< entries that have been used once
  std::uint32_t free;              ///< of the first entry that is free again; they hang by `next`
  std::uint32_t at_s;              ///< slots of the wheel before this time are empty
  std::uint32_t oldest, youngest;  ///< of those that are not established
  std::uint64_t secret[2];
  std::uint32_t padding[6];
};

std::uint64_t FlowTable::bytes_for(std::uint32_t flows) noexcept {
  return sizeof(Head) + kWheelSlots * sizeof(std::uint32_t) +
         std::uint64_t{buckets_for(flows)} * kCacheLine + std::uint64_t{flows} * sizeof(FlowEntry);
}

FlowTable::FlowTable(const LaneState& state, std::uint32_t flows,
                     const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state), flows_(flows), bucket_count_(buckets_for(flows)) {
  static_assert(sizeof(Head) == kCacheLine);
  MILLRACE_CHECK(flows >= 1 && flows <= kFlowsMax && state.bytes.size() >= bytes_for(flows));
  entries_ = reinterpret_cast<FlowEntry*>(state.bytes.data() + sizeof(Head) +
                                          kWheelSlots * sizeof(std::uint32_t) +
                                          std::size_t{bucket_count_} * kCacheLine);
  at_s_ = head().at_s;
  if ((head().secret[0] | head().secret[1]) != 0) return;
  change_head().secret[0] = secret[0];
  head().secret[1] = secret[1];
}

std::optional<FlowTable> FlowTable::of_reader(std::span<std::byte> state,
                                              std::uint32_t flows) noexcept {
  if (flows == 0 || flows > kFlowsMax || state.size() < bytes_for(flows)) return std::nullopt;
  const Head& head = *reinterpret_cast<const Head*>(state.data());
  // Without one the constructor would write it.
  if ((head.secret[0] | head.secret[1]) == 0) return std::nullopt;
  return FlowTable(LaneState{.bytes = state}, flows, {});
}

FlowTable::Head& FlowTable::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data());
}

FlowTable::Head& FlowTable::change_head() noexcept { return state_.change(head()); }

void FlowTable::prefetch(std::uint32_t flow) const noexcept {
  const auto* const lines = reinterpret_cast<const std::byte*>(&at(flow));
  for (std::size_t line = 0; line < sizeof(FlowEntry) / kCacheLine; ++line) {
    __builtin_prefetch(lines + line * kCacheLine, 1);
  }
}

void FlowTable::count(std::uint32_t flow, std::uint8_t direction, std::uint64_t packets,
                      std::uint64_t bytes) noexcept {
  FlowEntry& entry = at(flow);
  FlowTraffic& traffic = state_.change(direction == 0 ? entry.sent : entry.answered);
  traffic.packets.add(packets);
  traffic.bytes.add(bytes);
}

std::uint32_t FlowTable::count() const noexcept { return head().count; }

void FlowTable::set(std::uint32_t* word, std::uint32_t value) noexcept {
  state_.change(*word) = value;
}

std::array<std::uint64_t, 2> FlowTable::secret() const noexcept {
  return {head().secret[0], head().secret[1]};
}

/// Where all buckets are.
struct FlowTable::Buckets {
  std::uint32_t* first;
  std::uint64_t mask;  ///< their number - 1

  std::uint32_t* at(std::uint64_t number) const noexcept {
    return first + (number & mask) * kReferences;
  }
  Place place_of(std::uint64_t hash) const noexcept {
    return {{at(hash), at(hash >> 28)}, tag(hash)};
  }
  static std::uint32_t tag(std::uint64_t hash) noexcept {
    const auto tag = static_cast<std::uint32_t>(hash >> 57);
    return (tag == 0 ? 1 : tag) << kTagShift;
  }
};

FlowTable::Buckets FlowTable::buckets() const noexcept {
  return {reinterpret_cast<std::uint32_t*>(state_.bytes.data() + sizeof(Head) +
                                           kWheelSlots * sizeof(std::uint32_t)),
          bucket_count_ - 1};
}

FlowTable::Place FlowTable::place_of(const FlowTuple& tuple) const noexcept {
  return buckets().place_of(tuple_hash(tuple, secret()));
}

/// The first reference of the place, in order, that has its tag and is `wanted`; null: none.
template <typename Wanted>
std::uint32_t* FlowTable::first_of(const Place& place, const Wanted& wanted) noexcept {
  const __m256i tag = _mm256_set1_epi32(static_cast<int>(place.tag >> kTagShift));
  for (std::uint32_t* const bucket : place.bucket) {
    for (std::uint32_t first = 0; first < kReferences; first += 8) {
      const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(bucket + first));
      const __m256i same = _mm256_cmpeq_epi32(_mm256_srli_epi32(eight, kTagShift), tag);
      auto bits = static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
      for (; bits != 0; bits &= bits - 1) {
        std::uint32_t* const reference = bucket + first + std::countr_zero(bits);
        if (wanted(*reference)) return reference;
      }
    }
  }
  return nullptr;
}

inline bool FlowTable::is(std::uint32_t reference, const FlowTuple& tuple) const noexcept {
  return is_same_tuple(at(flow_of(reference)).tuple_of(direction_of(reference)), tuple);
}

std::optional<FlowTable::Found> FlowTable::look(const Place& place,
                                                const FlowTuple& tuple) const noexcept {
  const std::uint32_t* const reference =
      first_of(place, [&](std::uint32_t one) { return is(one, tuple); });
  if (reference == nullptr) return std::nullopt;
  return Found{flow_of(*reference), direction_of(*reference)};
}

std::optional<FlowTable::Found> FlowTable::find(const FlowTuple& tuple) const noexcept {
  return look(place_of(tuple), tuple);
}

bool FlowTable::is_referenced(const FlowTuple& tuple, std::uint32_t flow) const noexcept {
  const Place place = place_of(tuple);
  const std::uint32_t wanted = place.tag | (flow + 1);
  return first_of(place, [&](std::uint32_t one) { return one == wanted; }) != nullptr;
}

/// Bit i: reference i of the first bucket, or i - 16 of the second, has the tag. Without a branch:
/// no processor can foretell in which half of which bucket one stands.
inline std::uint32_t FlowTable::with_tag(const Place& place) noexcept {
  static_assert(kReferences == 16);
  const __m256i tag = _mm256_set1_epi32(static_cast<int>(place.tag >> kTagShift));
  const auto eight = [&](const std::uint32_t* at) {
    const __m256i references = _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i same = _mm256_cmpeq_epi32(_mm256_srli_epi32(references, kTagShift), tag);
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
  };
  return eight(place.bucket[0]) | eight(place.bucket[0] + 8) << 8 | eight(place.bucket[1]) << 16 |
         eight(place.bucket[1] + 8) << 24;
}

void FlowTable::find(std::span<const FlowTuple> tuples,
                     std::span<MaybeFound> found) const noexcept {
  MILLRACE_CHECK(tuples.size() <= kManyMax && found.size() >= tuples.size());
  std::array<std::uint64_t, kManyMax> hashes;
  std::array<std::uint32_t, kManyMax> likely;  // references
  tuple_hashes(tuples, secret(), hashes);
  const Buckets all = buckets();
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    __builtin_prefetch(all.at(hashes[i]));
    __builtin_prefetch(all.at(hashes[i] >> 28));
  }
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    // The first with this tag: of 32 others one in four has it too by chance.
    const Place place = all.place_of(hashes[i]);
    likely[i] = 0;
    const std::uint32_t bits = with_tag(place);
    if (bits == 0) continue;
    const std::ptrdiff_t between = place.bucket[1] - kReferences - place.bucket[0];
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
    likely[i] = *(place.bucket[0] + bit + (bit < kReferences ? 0 : between));
    prefetch(flow_of(likely[i]));
  }
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    found[i] = MaybeFound(likely[i]);
    if (likely[i] == 0 || is(likely[i], tuples[i])) [[likely]]
      continue;
    const auto other = look(all.place_of(hashes[i]), tuples[i]);
    found[i] = other ? MaybeFound(*other) : MaybeFound();
  }
}

/// In the bucket of the two that has more room; null: both are full.
std::uint32_t* FlowTable::free_reference(const Place& place) const noexcept {
  const std::uint32_t free[2] = {zeros_of(place.bucket[0]), zeros_of(place.bucket[1])};
  const std::size_t which = std::popcount(free[0]) >= std::popcount(free[1]) ? 0 : 1;
  return free[which] == 0 ? nullptr : place.bucket[which] + std::countr_zero(free[which]);
}

/// A reference of that flow. Both of its references may stand in one bucket, with the same tag.
void FlowTable::drop_reference(const Place& place, std::uint32_t flow,
                               std::uint8_t direction) noexcept {
  std::uint32_t* const reference = first_of(place, [&](std::uint32_t one) {
    return flow_of(one) == flow && direction_of(one) == direction;
  });
  if (reference != nullptr) set(reference, 0);
}

void FlowTable::prefetch_references(const Places& places) const noexcept {
  for (const Place& place : places) {
    for (const std::uint32_t* const bucket : place.bucket) __builtin_prefetch(bucket, 1);
  }
}

/// Lines that its removal writes are under way, and those of the flow that is the next oldest.
FlowTable::Places FlowTable::prefetch_removal(std::uint32_t flow) const noexcept {
  const FlowEntry& entry = at(flow);
  const Places places = {place_of(entry.tuple), place_of(entry.answer)};
  prefetch_references(places);
  if (entry.next != 0) __builtin_prefetch(&at(entry.next - 1), 1);
  if (entry.before != 0) __builtin_prefetch(&at(entry.before - 1), 1);
  if (entry.younger != 0) prefetch(entry.younger - 1);
  return places;
}

std::optional<std::uint32_t> FlowTable::take_number() noexcept {
  if (head().free != 0) {
    const std::uint32_t flow = head().free - 1;
    change_head().free = at(flow).next;
    return flow;
  }
  if (head().fresh == flows_) return std::nullopt;
  return change_head().fresh++;
}

FlowTable::Room FlowTable::room_for(const FlowTuple& tuple,
                                    const FlowTuple& answer) const noexcept {
  Room room;
  room.places = {place_of(tuple), place_of(answer)};
  prefetch_references(room.places);
  const Head& now = head();
  if (now.free == 0 && now.fresh == flows_ && now.oldest != 0) {
    room.oldest = now.oldest - 1;
    room.of_oldest = prefetch_removal(*room.oldest);
  }
  std::optional<Found> found = look(room.places[0], tuple);
  if (!found) found = look(room.places[1], answer);
  if (found) room.there = found->flow;
  return room;
}

FlowTable::Insertion FlowTable::put(const FlowTuple& tuple, const FlowTuple& answer,
                                    std::uint32_t deadline_s, const Places& places) noexcept {
  Insertion done;
  const std::optional<std::uint32_t> flow = take_number();
  if (!flow) return done;
  FlowEntry& entry = change(*flow);
  entry = {};
  entry.tuple = tuple;
  entry.answer = answer;
  entry.deadline_s = deadline_s;
  entry.used = 1;
  ++change_head().count;
  link(*flow);
  make_youngest(*flow);
  const bool one_tuple = tuple == answer;
  for (std::uint32_t direction = 0; direction < (one_tuple ? 1u : 2u); ++direction) {
    std::uint32_t* const free = free_reference(places[direction]);
    if (free == nullptr) {  // both buckets: one in some 10^12 of a full table
      remove(*flow);
      return done;
    }
    set(free, places[direction].tag | (direction != 0 ? kDirectionBit : 0) | (*flow + 1));
  }
  done.what = Inserted::kNew;
  done.flow = *flow;
  return done;
}

void FlowTable::remove(std::uint32_t flow) noexcept {
  const FlowEntry& entry = at(flow);
  remove(flow, {place_of(entry.tuple), place_of(entry.answer)});
}

void FlowTable::remove(std::uint32_t flow, const Places& places) noexcept {
  FlowEntry& entry = change(flow);
  MILLRACE_CHECK(entry.used != 0);
  drop_reference(places[0], flow, 0);
  drop_reference(places[1], flow, 1);
  unlink(flow);
  if (entry.established == 0) leave_ages(flow);
  Head& head = change_head();
  entry.used = 0;
  entry.next = head.free;
  head.free = flow + 1;
  --head.count;
}

void FlowTable::establish(std::uint32_t flow) noexcept {
  if (at(flow).established != 0) return;
  leave_ages(flow);
  change(flow).established = 1;
}

void FlowTable::set_deadline(std::uint32_t flow, std::uint32_t deadline_s) noexcept {
  if (at(flow).deadline_s != deadline_s) set(&at(flow).deadline_s, deadline_s);
  if (deadline_s < time_of_slot(at(flow))) relink(flow);
}

std::uint32_t* FlowTable::wheel() const noexcept {
  return reinterpret_cast<std::uint32_t*>(state_.bytes.data() + sizeof(Head));
}

/// A flow that ends later than in a turn of the wheel is looked at once a turn.
void FlowTable::link(std::uint32_t flow) noexcept {
  const std::uint32_t first = head().at_s;
  FlowEntry& entry = change(flow);
  const std::uint32_t time = std::clamp(entry.deadline_s, first, first + kWheelSlots - 1);
  entry.slot = static_cast<std::uint16_t>(time % kWheelSlots);
  std::uint32_t* const slot = wheel() + entry.slot;
  entry.next = *slot;
  entry.before = 0;
  if (*slot != 0) set(&at(*slot - 1).before, flow + 1);
  set(slot, flow + 1);
}

void FlowTable::unlink(std::uint32_t flow) noexcept {
  const FlowEntry& entry = at(flow);
  if (entry.next != 0) set(&at(entry.next - 1).before, entry.before);
  set(entry.before != 0 ? &at(entry.before - 1).next : wheel() + entry.slot, entry.next);
}

void FlowTable::relink(std::uint32_t flow) noexcept {
  unlink(flow);
  link(flow);
}

void FlowTable::make_youngest(std::uint32_t flow) noexcept {
  Head& head = change_head();
  FlowEntry& entry = change(flow);
  entry.older = head.youngest;
  entry.younger = 0;
  if (head.youngest != 0) set(&at(head.youngest - 1).younger, flow + 1);
  head.youngest = flow + 1;
  if (head.oldest == 0) head.oldest = flow + 1;
}

void FlowTable::make_oldest(std::uint32_t flow) noexcept {
  FlowEntry& entry = change(flow);
  if (entry.established == 0) leave_ages(flow);
  Head& head = change_head();
  entry.established = 0;
  entry.older = 0;
  entry.younger = head.oldest;
  if (head.oldest != 0) set(&at(head.oldest - 1).older, flow + 1);
  head.oldest = flow + 1;
  if (head.youngest == 0) head.youngest = flow + 1;
}

void FlowTable::leave_ages(std::uint32_t flow) noexcept {
  const FlowEntry& entry = at(flow);
  Head& head = change_head();
  set(entry.older != 0 ? &at(entry.older - 1).younger : &head.oldest, entry.younger);
  set(entry.younger != 0 ? &at(entry.younger - 1).older : &head.youngest, entry.older);
}

/// The first flow of the first slot that is not empty, up to that of `now_s`. After a long pause
/// all slots are due at once.
std::optional<std::uint32_t> FlowTable::next_due(std::uint32_t now_s) noexcept {
  std::uint32_t at_s = head().at_s;
  if (now_s >= at_s + kWheelSlots) at_s = now_s - kWheelSlots + 1;
  while (at_s < now_s && wheel()[at_s % kWheelSlots] == 0) ++at_s;
  if (at_s != head().at_s) at_s_ = change_head().at_s = at_s;
  const std::uint32_t first = wheel()[at_s % kWheelSlots];
  return first == 0 ? std::nullopt : std::optional(first - 1);
}

}  // namespace millrace
