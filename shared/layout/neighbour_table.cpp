// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

// What is known of a neighbour: asking, learning, giving up.

#include "shared/layout/neighbour_table.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using enum NeighbourState;

/// Of an operation that others get in the way of: each try that fails is a success of another.
constexpr std::uint32_t kTryMax = 8;

/// Another process may have read its clock a little later.
constexpr std::uint64_t since(std::uint64_t now_ms, std::uint64_t then_ms) noexcept {
  return now_ms > then_ms ? now_ms - then_ms : 0;
}

/// Changes a word of the generation, and of no other.
void write_word(std::atomic<std::uint64_t>& word, std::uint64_t value,
                std::uint32_t generation) noexcept {
  std::uint64_t seen = word.load();
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    if (!NeighbourWordTag::has_tag(seen, generation)) return;
    if (word.compare_exchange_strong(seen, NeighbourWordTag::tagged(value, generation))) return;
  }
}

void note_use(std::atomic<std::uint64_t>& used_ms, std::uint64_t now_ms) noexcept {
  if (since(now_ms, used_ms.load(memory_order_relaxed)) >= kNeighbourUsedGrainMs) {
    used_ms.store(now_ms, memory_order_relaxed);
  }
}

}  // namespace

NeighbourTableView::NeighbourTableView(std::span<std::byte> memory,
                                       const NeighbourTimes& times) noexcept
    : header_(reinterpret_cast<NeighbourHeader*>(memory.data())), mask_(0), times_(times) {
  MILLRACE_CHECK(memory.size() >= neighbour_table_bytes(kNeighbourCountMin) &&
                 memory.size() <= neighbour_table_bytes(kNeighbourCountMax));
  MILLRACE_CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % kCacheLine == 0);
  const std::size_t count = (memory.size() - sizeof(NeighbourHeader)) / sizeof(NeighbourEntry);
  mask_ = static_cast<std::uint32_t>(count) - 1;
  MILLRACE_CHECK(std::has_single_bit(count) && memory.size() == neighbour_table_bytes(mask_ + 1));
  MILLRACE_CHECK(times.asks_max >= 1);
}

void NeighbourTableView::init(std::uint64_t secret) const noexcept {
  std::uint64_t none = 0;
  header_->secret.compare_exchange_strong(none, secret);
}

std::uint64_t NeighbourTableView::full_count() const noexcept {
  return header_->full.load(memory_order_relaxed);
}

std::uint64_t NeighbourTableView::evicted_count() const noexcept {
  return header_->evicted.load(memory_order_relaxed);
}

NeighbourEntry& NeighbourTableView::entry(std::uint32_t number) const noexcept {
  return reinterpret_cast<NeighbourEntry*>(header_ + 1)[number];
}

bool NeighbourTableView::is_current(NeighbourHandle handle) const noexcept {
  return NeighbourWord{entry(handle.number).word.load()}.is_published(handle.generation);
}

NeighbourAnswer NeighbourTableView::look_up(NeighbourHandle handle,
                                            std::uint64_t now_ms) const noexcept {
  if (handle.number > mask_) return {};
  NeighbourEntry& at = entry(handle.number);
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    const std::uint64_t link = at.link.load(memory_order_acquire);
    if (!is_current(handle)) return {};
    note_use(at.used_ms, now_ms);
    const NeighbourState state = state_of_link(link);
    if (state == kStatic) return {.state = kStatic, .mac = mac_of_link(link)};
    if (state == kKnown) return answer_known(handle, link, now_ms);
    const NeighbourAnswer answer = answer_unknown(handle, link, now_ms);
    if (answer.state != kNone) return answer;
  }
  return {.state = kIncomplete};
}

bool NeighbourTableView::keep(NeighbourHandle handle, std::uint64_t now_ms,
                              NeighbourHint& hint) const noexcept {
  if (handle.number > mask_) return false;
  NeighbourEntry& at = entry(handle.number);
  const std::uint64_t link = at.link.load(memory_order_acquire);
  const NeighbourState state = state_of_link(link);
  if (!is_current(handle) || (state != kStatic && state != kKnown)) return false;
  const std::uint64_t confirmed_ms =
      NeighbourWordTag::value(at.confirmed.load(memory_order_acquire));
  const bool reachable = confirmed_ms != 0 && since(now_ms, confirmed_ms) < times_.reachable_ms;
  if (state == kKnown && !reachable) return false;
  note_use(at.used_ms, now_ms);
  hint = {handle, link, now_ms + kNeighbourUsedGrainMs, mac_of_link(link)};
  return true;
}

bool NeighbourTableView::is_fresh(const NeighbourHint& hint, std::uint64_t now_ms) const noexcept {
  return now_ms < hint.until_ms &&
         entry(hint.handle.number).link.load(memory_order_acquire) == hint.link &&
         is_current(hint.handle);
}

NeighbourAnswer NeighbourTableView::answer_known(NeighbourHandle handle, std::uint64_t link,
                                                 std::uint64_t now_ms) const noexcept {
  NeighbourEntry& at = entry(handle.number);
  NeighbourAnswer answer{.state = kKnown, .mac = mac_of_link(link)};
  const std::uint64_t confirmed_ms =
      NeighbourWordTag::value(at.confirmed.load(memory_order_acquire));
  if (confirmed_ms != 0 && since(now_ms, confirmed_ms) < times_.reachable_ms) return answer;
  std::uint64_t asked = at.asked.load(memory_order_acquire);
  if (!NeighbourWordTag::has_tag(asked, handle.generation)) return answer;
  const std::uint32_t asks = asks_of(asked);
  if (asks != 0 && since(now_ms, asked_ms_of(asked)) < times_.retry_ms) return answer;
  const bool gives_up = asks >= times_.asks_max;
  const std::uint64_t next = neighbour_asked(now_ms, gives_up ? 1 : asks + 1, handle.generation);
  if (!at.asked.compare_exchange_strong(asked, next)) return answer;  // another one asks
  if (!gives_up) {
    answer.ask = NeighbourAsk::kUnicast;
    return answer;
  }
  // A failure means that it was learnt just now.
  if (!at.link.compare_exchange_strong(link, neighbour_link(kIncomplete, {}, handle.generation))) {
    return answer;
  }
  return {.state = kIncomplete, .ask = NeighbourAsk::kMulticast};
}

/// kNone: the link has changed meanwhile.
NeighbourAnswer NeighbourTableView::answer_unknown(NeighbourHandle handle, std::uint64_t link,
                                                   std::uint64_t now_ms) const noexcept {
  NeighbourEntry& at = entry(handle.number);
  std::uint64_t asked = at.asked.load(memory_order_acquire);
  if (!NeighbourWordTag::has_tag(asked, handle.generation)) return {};
  const std::uint32_t asks = asks_of(asked);
  const std::uint64_t since_ask_ms = since(now_ms, asked_ms_of(asked));
  const bool is_due = asks == 0 || since_ask_ms >= times_.retry_ms;
  const bool gave_up = is_due && asks >= times_.asks_max;
  // Nothing happens by itself, so a hold that began and ended without a use is over.
  const bool is_held = gave_up && since_ask_ms - times_.retry_ms < times_.failed_hold_ms;
  const NeighbourState state = is_held ? kFailed : kIncomplete;
  if (state_of_link(link) != state &&
      !at.link.compare_exchange_strong(link, neighbour_link(state, {}, handle.generation))) {
    return {};
  }
  if (is_held || !is_due) return {.state = state};
  const std::uint64_t next = neighbour_asked(now_ms, gave_up ? 1 : asks + 1, handle.generation);
  if (!at.asked.compare_exchange_strong(asked, next)) return {.state = state};
  return {.state = state, .ask = NeighbourAsk::kMulticast};
}

/// `link`: what was confirmed. A change of the link without proof takes the proof away behind it,
/// and this looks at the link behind its proof: so no proof stays with another MAC.
void NeighbourTableView::confirm(NeighbourHandle handle, std::uint64_t link,
                                 std::uint64_t now_ms) const noexcept {
  NeighbourEntry& at = entry(handle.number);
  write_word(at.confirmed, now_ms, handle.generation);
  write_word(at.asked, 0, handle.generation);
  if (at.link.load() != link) write_word(at.confirmed, 0, handle.generation);
}

bool NeighbourTableView::learn(const NeighbourKey& key, const MacAddress& mac, std::uint64_t now_ms,
                               NeighbourNews news) const noexcept {
  if (!is_station(mac)) return false;
  const NeighbourHandle handle = news.only_update ? find(key) : find_or_insert(key, now_ms, false);
  if (!handle.found()) return false;
  NeighbourEntry& at = entry(handle.number);
  const std::uint64_t next = neighbour_link(kKnown, mac, handle.generation);
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    std::uint64_t link = at.link.load();
    if (!NeighbourLinkTag::has_tag(link, handle.generation)) return false;
    const NeighbourState state = state_of_link(link);
    if (state == kStatic) return mac_of_link(link) == mac && is_current(handle);
    if (link == next) {
      if (news.confirms) confirm(handle, link, now_ms);
      return is_current(handle);
    }
    // Before the link: no reader shall see the new MAC with the proof and the asks of the old one.
    if (state != kKnown || news.overrides) write_word(at.asked, 0, handle.generation);
    write_word(at.confirmed, 0, handle.generation);
    if (state == kKnown && !news.overrides) return false;
    if (!at.link.compare_exchange_strong(link, next)) continue;
    if (news.confirms) {
      confirm(handle, next, now_ms);
    } else {
      write_word(at.confirmed, 0, handle.generation);
    }
    return is_current(handle);
  }
  return false;
}

bool NeighbourTableView::set_static(const NeighbourKey& key, const MacAddress& mac,
                                    std::uint64_t now_ms) const noexcept {
  for (std::uint32_t tries = 0; tries < kTryMax; ++tries) {
    // The pin comes first: with it an evictor's claim fails that did not see the link.
    const NeighbourHandle handle = find_or_insert(key, now_ms, true);
    if (!handle.found()) return false;
    std::uint64_t link = entry(handle.number).link.load();
    if (!NeighbourLinkTag::has_tag(link, handle.generation)) continue;
    const std::uint64_t next = neighbour_link(kStatic, mac, handle.generation);
    const bool stands =
        link == next || entry(handle.number).link.compare_exchange_strong(link, next);
    if (stands && is_current(handle)) return true;
  }
  return false;
}

bool NeighbourTableView::contradicts(const NeighbourKey& key,
                                     const MacAddress& mac) const noexcept {
  const NeighbourHandle handle = find(key);
  if (!handle.found()) return false;
  const std::uint64_t link = entry(handle.number).link.load(memory_order_acquire);
  return state_of_link(link) == kStatic && mac_of_link(link) != mac && is_current(handle);
}

bool NeighbourTableView::is_ready(NeighbourHandle handle) const noexcept {
  if (handle.number > mask_) return false;
  const NeighbourState state = state_of_link(entry(handle.number).link.load(memory_order_acquire));
  return (state == kKnown || state == kStatic) && is_current(handle);
}

bool NeighbourTableView::has_failed(NeighbourHandle handle) const noexcept {
  if (handle.number > mask_) return true;
  const std::uint64_t link = entry(handle.number).link.load(memory_order_acquire);
  return state_of_link(link) == kFailed || !is_current(handle);
}

bool NeighbourTableView::read(std::uint32_t number, NeighbourSnapshot& snapshot) const noexcept {
  const NeighbourEntry& at = entry(number);
  const NeighbourWord word{at.word.load()};
  if (word.phase() != NeighbourPhase::kPublished || is_shadowed(number, word)) return false;
  NeighbourKeyWords key{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    key.value[i] = NeighbourWordTag::value(at.key[i].load(memory_order_acquire));
  }
  const std::uint64_t link = at.link.load(memory_order_acquire);
  const std::uint64_t asked = at.asked.load(memory_order_acquire);
  snapshot = {.key = key.key(),
              .state = state_of_link(link),
              .pinned = word.pinned(),
              .mac = mac_of_link(link),
              .confirmed_ms = NeighbourWordTag::value(at.confirmed.load(memory_order_acquire)),
              .used_ms = at.used_ms.load(memory_order_acquire),
              .asked_ms = asked_ms_of(asked),
              .asks = asks_of(asked)};
  return NeighbourWord{at.word.load()}.is_published(word.generation());
}

}  // namespace millrace
