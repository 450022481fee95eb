// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/route/live/live_copy.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kRecordsAtOnce = 4096;
constexpr std::uint64_t kWordsOfACall = 65'536;  // the control thread has more to do
constexpr int kTries = 4;                        // of a whole copy that is overtaken
constexpr int kGraceTries = 200;

std::uint32_t word_number(std::span<const std::byte> image, const void* at) {
  const auto bytes = static_cast<const std::byte*>(at) - image.data();
  return static_cast<std::uint32_t>(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
}

std::span<const std::byte> tables_of(std::span<const std::byte> image, const RouteTable& table) {
  const auto* const first = reinterpret_cast<const std::byte*>(table.table24);
  return image.subspan(static_cast<std::size_t>(first - image.data()));
}

}  // namespace

LiveCopy::LiveCopy(std::unique_ptr<MappedImage> image, DeviceMemory& memory)
    : image_(std::move(image)),
      table_(view_route_image(image_->bytes())),
      journal_(table_),
      tables_(tables_of(image_->bytes(), table_)),
      first_word_(word_number(image_->bytes(), table_.table24)),
      room_(kRecordsAtOnce) {
  first_ = there_ = copy(memory);
  where_ = memory.copy(std::as_bytes(std::span(&there_, 1)));
}

/// All of it, as the image is when the call returns.
const std::byte* LiveCopy::copy(DeviceMemory& memory) {
  journal_.begin();
  const std::byte* const to = memory.copy(tables_);
  for (int tried = 1; !catch_up(memory, to); ++tried) {
    if (tried == kTries) {
      memory.give_back(to);
      throw Error("a live table changes faster than it can be copied to the device");
    }
    journal_.begin();
    memory.write(to, tables_);
  }
  memory.settle();
  return to;
}

/// No batch reads the copy yet. False: it has to be made anew.
bool LiveCopy::catch_up(DeviceMemory& memory, const std::byte* to) {
  for (;;) {
    const auto records = journal_.read(room_);
    if (!records) return false;
    for (const LiveRecord& record : *records) {
      if (record.place != kRecordGrace) put(record, memory, to);
    }
    journal_.taken(records->size());
    if (records->size() < room_.size()) break;
  }
  settle(memory, to);
  return true;
}

DeviceCopies LiveCopy::follow(DeviceMemory& memory, ReaderGrace& grace) {
  give_back_old(memory, grace);
  if (waits_ && !grace.passed(moment_)) return {};
  waits_ = false;
  DeviceCopies copies;
  if (!std::exchange(lost_, true)) {  // unless all goes well
    copies.words = copy_changes(memory, grace);
  }
  if (lost_ && old_ == nullptr) {
    copy_anew(memory, grace);
    copies.tables = 1;
  }
  return copies;
}

void LiveCopy::give_back_old(DeviceMemory& memory, ReaderGrace& grace) {
  if (old_ == nullptr || !grace.passed(old_moment_)) return;
  memory.give_back(std::exchange(old_, nullptr));
}

/// As far as the journal goes, or to a grace that has to be waited for.
std::uint64_t LiveCopy::copy_changes(DeviceMemory& memory, ReaderGrace& grace) {
  std::uint64_t words = 0;
  while (words < kWordsOfACall) {
    const auto records = journal_.read(room_);
    if (!records) {
      run_.clear();
      return words;
    }
    if (records->empty()) break;
    const std::size_t count = put_until_grace(*records, memory, there_);
    words += count;
    journal_.taken(count);
    if (count == records->size()) continue;
    settle(memory, there_);
    journal_.taken(1);
    if (begin_grace(grace)) break;
  }
  settle(memory, there_);
  lost_ = false;
  return words;
}

/// True: it has to be waited for longer than is worth it here. A batch takes some 50 us.
bool LiveCopy::begin_grace(ReaderGrace& grace) {
  moment_ = grace.now();
  waits_ = !grace.passed(moment_);
  for (int tries = 0; waits_ && tries < kGraceTries; ++tries) {
    std::this_thread::yield();
    waits_ = !grace.passed(moment_);
  }
  return waits_;
}

/// Returns how many there are in front of the first grace.
std::size_t LiveCopy::put_until_grace(std::span<const LiveRecord> records, DeviceMemory& memory,
                                      const std::byte* to) {
  const auto grace = std::ranges::find(records, kRecordGrace, &LiveRecord::place);
  const auto words = records.first(static_cast<std::size_t>(grace - records.begin()));
  for (const LiveRecord& record : words) put(record, memory, to);
  return words.size();
}

void LiveCopy::copy_anew(DeviceMemory& memory, ReaderGrace& grace) {
  run_.clear();
  const std::byte* const next = copy(memory);
  memory.write(where_, std::as_bytes(std::span(&next, 1)));
  memory.settle();
  old_ = std::exchange(there_, next);
  old_moment_ = grace.now();
  lost_ = false;
}

void LiveCopy::put(const LiveRecord& record, DeviceMemory& memory, const std::byte* to) {
  const std::uint32_t place = record.place & ~kRecordLeads;
  if (place < first_word_ || place - first_word_ >= tables_.size() / sizeof(std::uint32_t)) {
    throw Error("the journal of a live table names a word outside of it");
  }
  if ((record.place & kRecordLeads) != 0) settle(memory, to);
  if (!run_.empty() && place != run_at_ + run_.size()) write_run(memory, to);
  if (run_.empty()) run_at_ = place;
  run_.push_back(record.value);
}

void LiveCopy::write_run(DeviceMemory& memory, const std::byte* to) {
  if (run_.empty()) return;
  memory.write(to + std::size_t{run_at_ - first_word_} * sizeof(std::uint32_t),
               std::as_bytes(std::span(std::as_const(run_))));
  run_.clear();
  unsettled_ = true;
}

void LiveCopy::settle(DeviceMemory& memory, const std::byte* to) {
  write_run(memory, to);
  if (std::exchange(unsettled_, false)) memory.settle();
}

}  // namespace millrace
