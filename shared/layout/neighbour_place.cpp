// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

// Which entry a key has: finding, claiming, evicting, forgetting.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/layout/neighbour_table.hpp"

namespace millrace {
namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;

/// Of an operation that others get in the way of: each try that fails is a success of another.
constexpr std::uint32_t kTryMax = 16;

constexpr std::uint32_t kNeverEvicted = UINT32_MAX;

NeighbourWord word_of(const NeighbourEntry& entry) noexcept { return {entry.word.load()}; }

/// Writes a word of an entry that is claimed. False: a later claim has written it already.
template <typename Tag>
bool begin_word(std::atomic<std::uint64_t>& word, std::uint64_t value,
                std::uint32_t generation) noexcept {
  std::uint64_t seen = word.load();
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    if (Tag::is_newer(seen, generation)) return false;
    if (word.compare_exchange_strong(seen, Tag::tagged(value, generation))) return true;
  }
  return false;
}

}  // namespace

std::uint32_t NeighbourTableView::home_of(const NeighbourKeyWords& key) const noexcept {
  return static_cast<std::uint32_t>(key.hash(header_->secret.load(memory_order_relaxed)));
}

bool NeighbourTableView::holds(std::uint32_t number, NeighbourWord word,
                               const NeighbourKeyWords& key) const noexcept {
  if (word.phase() != NeighbourPhase::kPublished) return false;
  const NeighbourEntry& at = entry(number);
  // A published generation's key words never change, and no other generation's have its tag.
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint64_t expected = NeighbourWordTag::tagged(key.value[i], word.generation());
    if (at.key[i].load(memory_order_acquire) != expected) return false;
  }
  return true;
}

NeighbourHandle NeighbourTableView::find_words(const NeighbourKeyWords& key) const noexcept {
  const std::uint32_t home = home_of(key);
  for (std::uint32_t i = 0; i < kNeighbourWindow; ++i) {
    const std::uint32_t number = (home + i) & mask_;
    const NeighbourWord word = word_of(entry(number));
    if (holds(number, word, key)) return {number, word.generation()};
    // Never claimed, so no inserter has ever gone past it.
    if (word.bits == 0) break;
  }
  return {};
}

NeighbourHandle NeighbourTableView::find(const NeighbourKey& key) const noexcept {
  return find_words(NeighbourKeyWords::of(key));
}

bool NeighbourTableView::is_shadowed(std::uint32_t number, NeighbourWord word) const noexcept {
  NeighbourKeyWords key{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    key.value[i] = NeighbourWordTag::value(entry(number).key[i].load(memory_order_acquire));
  }
  if (!holds(number, word, key)) return false;
  const NeighbourHandle first = find_words(key);
  return first.found() && first.number != number;
}

std::uint32_t NeighbourTableView::rank_of(std::uint32_t number, NeighbourWord word) const noexcept {
  const NeighbourState state = state_of_link(entry(number).link.load(memory_order_acquire));
  if (word.pinned() || state == NeighbourState::kStatic) {
    return is_shadowed(number, word) ? 0 : kNeverEvicted;
  }
  if (state == NeighbourState::kKnown) return 2;
  return state == NeighbourState::kIncomplete ? 1 : 0;
}

NeighbourTableView::Place NeighbourTableView::choose_place(std::uint32_t home,
                                                           std::uint64_t now_ms) const noexcept {
  Place best;
  std::uint32_t best_rank = kNeverEvicted;
  std::uint64_t best_used_ms = 0;
  for (std::uint32_t i = 0; i < kNeighbourWindow; ++i) {
    const std::uint32_t number = (home + i) & mask_;
    const NeighbourWord word = word_of(entry(number));
    if (word.phase() == NeighbourPhase::kEmpty) return {number, word};
    if (word.is_fresh(now_ms)) continue;
    if (word.phase() != NeighbourPhase::kPublished) return {number, word};
    const std::uint32_t rank = rank_of(number, word);
    const std::uint64_t used_ms = entry(number).used_ms.load(memory_order_relaxed);
    if (rank < best_rank ||
        (rank == best_rank && rank != kNeverEvicted && used_ms < best_used_ms)) {
      best = {number, word};
      best_rank = rank;
      best_used_ms = used_ms;
    }
  }
  return best;
}

NeighbourHandle NeighbourTableView::claim(Place place, const NeighbourKeyWords& key,
                                          std::uint64_t now_ms, bool pinned) const noexcept {
  NeighbourEntry& at = entry(place.number);
  const std::uint32_t generation = place.seen.next_generation();
  const auto time_ms = static_cast<std::uint32_t>(now_ms);
  std::uint64_t word = place.seen.bits;
  NeighbourWord claimed = NeighbourWord::of(NeighbourPhase::kClaimed, false, generation, time_ms);
  if (!at.word.compare_exchange_strong(word, claimed.bits)) return {};
  if (place.seen.phase() == NeighbourPhase::kPublished) {
    header_->evicted.fetch_add(1, memory_order_relaxed);
  }
  bool mine = begin_word<NeighbourLinkTag>(at.link, 0, generation);
  mine = mine && begin_word<NeighbourWordTag>(at.confirmed, 0, generation);
  mine = mine && begin_word<NeighbourWordTag>(at.asked, 0, generation);
  for (std::uint32_t i = 0; i < 3 && mine; ++i) {
    mine = begin_word<NeighbourWordTag>(at.key[i], key.value[i], generation);
  }
  if (!mine) return {};
  at.used_ms.store(now_ms, memory_order_relaxed);
  const NeighbourWord published =
      NeighbourWord::of(NeighbourPhase::kPublished, pinned, generation, time_ms);
  // Fails when this process stood still for so long that another has claimed the entry.
  if (!at.word.compare_exchange_strong(claimed.bits, published.bits)) return {};
  return {place.number, generation};
}

/// Of two inserters at least the one that published later sees the other's entry: all accesses to
/// words are sequentially consistent.
NeighbourHandle NeighbourTableView::settle(const NeighbourKeyWords& key) const noexcept {
  NeighbourHandle first;
  const std::uint32_t home = home_of(key);
  for (std::uint32_t i = 0; i < kNeighbourWindow; ++i) {
    const std::uint32_t number = (home + i) & mask_;
    const NeighbourWord word = word_of(entry(number));
    if (!holds(number, word, key)) continue;
    if (!first.found()) {
      first = {number, word.generation()};
      continue;
    }
    if (word.pinned()) set_pinned(first, true);
    std::uint64_t seen = word.bits;
    entry(number).word.compare_exchange_strong(seen, word.emptied().bits);
  }
  return first;
}

NeighbourHandle NeighbourTableView::find_or_insert(const NeighbourKey& key, std::uint64_t now_ms,
                                                   bool pinned) const noexcept {
  const NeighbourKeyWords words = NeighbourKeyWords::of(key);
  const std::uint32_t home = home_of(words);
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    const NeighbourHandle found = find_words(words);
    if (found.found()) {
      if (!pinned || set_pinned(found, true)) return found;
      continue;
    }
    const Place place = choose_place(home, now_ms);
    if (place.number == kNoNeighbour) break;
    if (!claim(place, words, now_ms, pinned).found()) continue;
    const NeighbourHandle settled = settle(words);
    if (settled.found() && (!pinned || set_pinned(settled, true))) return settled;
  }
  header_->full.fetch_add(1, memory_order_relaxed);
  return {};
}

bool NeighbourTableView::set_pinned(NeighbourHandle handle, bool pinned) const noexcept {
  if (handle.number > mask_) return false;
  std::atomic<std::uint64_t>& word = entry(handle.number).word;
  NeighbourWord seen{word.load()};
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    if (!seen.is_published(handle.generation)) return false;
    if (seen.pinned() == pinned) return true;
    if (word.compare_exchange_strong(seen.bits, seen.with_pin(pinned).bits)) return true;
  }
  return false;
}

bool NeighbourTableView::forget(const NeighbourKey& key) const noexcept {
  const NeighbourKeyWords words = NeighbourKeyWords::of(key);
  const std::uint32_t home = home_of(words);
  bool any = false;
  for (std::uint32_t i = 0; i < kNeighbourWindow; ++i) {
    const std::uint32_t number = (home + i) & mask_;
    NeighbourWord word = word_of(entry(number));
    // A pin that is set meanwhile makes the first try fail.
    for (std::uint32_t tries = 0; tries < kTryMax && holds(number, word, words); ++tries) {
      if (entry(number).word.compare_exchange_strong(word.bits, word.emptied().bits)) {
        any = true;
        break;
      }
    }
  }
  return any;
}

bool NeighbourTableView::forget_static(const NeighbourKey& key) const noexcept {
  const NeighbourHandle handle = find(key);
  if (!handle.found()) return false;
  const std::uint64_t link = entry(handle.number).link.load(memory_order_acquire);
  return state_of_link(link) == NeighbourState::kStatic && forget(key);
}

}  // namespace millrace
