// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_journal.hpp"

#include <algorithm>
#include <atomic>

#include "services/functions/route/live/store_live.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kTopBit = 1u << 31;
static_assert(kBlockFlag == kTopBit && kIpv6NodeFlag == kTopBit);

std::uint64_t load(const std::uint64_t& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

}  // namespace

LiveJournal::LiveJournal(std::span<std::uint32_t> words, std::span<LiveRecord> records,
                         RouteLive& live)
    : words_(words), records_(records), live_(&live), end_(load(live.journal_end)) {
  __atomic_fetch_add(&live.writer_count, 1, __ATOMIC_ACQ_REL);
}

void LiveJournal::store(std::uint32_t& word, std::uint32_t value) noexcept {
  store_live(word, value);
  note(&word, (value & kTopBit) != 0 ? kRecordLeads : 0, value);
}

void LiveJournal::fill(std::uint32_t& word, std::uint32_t value) noexcept {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
  note(&word, 0, value);
}

void LiveJournal::grace() noexcept { append({.place = kRecordGrace, .value = 0}); }

void LiveJournal::note(std::uint32_t* word, std::uint32_t flags, std::uint32_t value) noexcept {
  if (records_.empty()) return;
  append({.place = static_cast<std::uint32_t>(word - words_.data()) | flags, .value = value});
}

/// A reader that finds a record half written, or overwritten, finds by journal_end that it is lost:
/// the fence lets nothing of a record be seen before the end that was told last.
void LiveJournal::append(LiveRecord record) noexcept {
  if (records_.empty()) return;
  std::atomic_thread_fence(std::memory_order_release);
  LiveRecord& to = records_[end_ & (records_.size() - 1)];
  __atomic_store_n(&to.place, record.place, __ATOMIC_RELAXED);
  __atomic_store_n(&to.value, record.value, __ATOMIC_RELAXED);
  __atomic_store_n(&live_->journal_end, ++end_, __ATOMIC_RELEASE);
}

std::uint64_t LiveJournalReader::end() const noexcept { return load(table_.live->journal_end); }

/// The first writer of an image has noted all; until it begins there is nothing to note.
std::uint64_t LiveJournalReader::writers() const noexcept {
  return std::max<std::uint64_t>(load(table_.live->writer_count), 1);
}

void LiveJournalReader::begin() noexcept {
  writers_ = writers();
  at_ = end();
}

/// The writer may be at record number `end` already, which has the place of one `count` before.
std::optional<std::span<const LiveRecord>> LiveJournalReader::read(
    std::span<LiveRecord> room) noexcept {
  const std::size_t count = table_.journal.size();
  const std::uint64_t there = end() - at_;
  if (writers() != writers_ || there >= count) return std::nullopt;
  const auto records = room.first(std::min<std::size_t>(room.size(), there));
  for (std::size_t i = 0; i < records.size(); ++i) {
    const LiveRecord& from = table_.journal[(at_ + i) & (count - 1)];
    records[i] = {.place = __atomic_load_n(&from.place, __ATOMIC_RELAXED),
                  .value = __atomic_load_n(&from.value, __ATOMIC_RELAXED)};
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (end() - at_ >= count) return std::nullopt;
  return records;
}

}  // namespace millrace
