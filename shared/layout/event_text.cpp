// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/event_text.hpp"

#include <bit>

namespace millrace {
namespace {

constexpr std::size_t kFieldHeaderBytes = 3;
constexpr std::uint16_t kCutBit = 0x8000;
/// At the end of a text, for names of fields that have no room.
constexpr std::size_t kRoomForNames = 16 * kFieldHeaderBytes;
constexpr std::size_t kRoomForValues = kEventTextBytesMax - kRoomForNames;
static_assert(kEventTextBytesMax < kCutBit);

/// Records of text that the record says are behind it.
std::size_t texts_of(const EventRecord& record) noexcept {
  if (record.kind == EventKind::kSignature) return record.signature.texts;
  if (record.kind == EventKind::kStream) return record.tcp_stream.texts;
  return record.kind == EventKind::kApp ? record.app.texts : 0;
}

/// The next `texts` are those of one line, each in its place.
bool are_texts(std::span<const EventRecord> records) noexcept {
  for (std::size_t place = 0; place < records.size(); ++place) {
    const auto text = std::bit_cast<EventText>(records[place]);
    const bool is_last = place + 1 == records.size();
    if (text.kind != EventKind::kText || text.place != place || text.bytes == 0) return false;
    if (is_last ? text.bytes > kEventTextBytes : text.bytes != kEventTextBytes) return false;
  }
  return true;
}

bool are_fields(std::span<const std::byte> text) noexcept {
  while (next_field(text)) {
  }
  return text.empty();
}

}  // namespace

EventRecord text_record(std::span<const std::byte> text, std::uint8_t place) noexcept {
  const auto rest = text.subspan(place * kEventTextBytes);
  const auto own = rest.first(std::min(rest.size(), kEventTextBytes));
  EventText record{};
  record.kind = EventKind::kText;
  record.place = place;
  record.bytes = static_cast<std::uint8_t>(own.size());
  const auto front = own.first(std::min(own.size(), kEventTextFrontBytes));
  std::ranges::copy(front, record.front.begin());
  std::ranges::copy(own.subspan(front.size()), record.back.begin());
  return std::bit_cast<EventRecord>(record);
}

void EventTextWriter::put(EventField field, std::span<const std::byte> front,
                          std::span<const std::byte> value, std::size_t value_max) noexcept {
  const std::size_t free = kRoomForValues - std::min(kRoomForValues, size_);
  const std::size_t taken = kFieldHeaderBytes + front.size();
  if (taken >= free) front = {};
  std::size_t kept = std::min(value.size(), value_max);
  kept = taken >= free ? 0 : std::min(kept, free - taken);
  if (size_ + kFieldHeaderBytes > bytes_.size()) return;
  const bool is_cut = kept < value.size() || taken >= free;
  const std::size_t bytes = front.size() + kept;
  const auto size = static_cast<std::uint16_t>(bytes | (is_cut ? kCutBit : 0));
  bytes_[size_++] = static_cast<std::byte>(field);
  bytes_[size_++] = static_cast<std::byte>(size & 0xff);
  bytes_[size_++] = static_cast<std::byte>(size >> 8);
  std::ranges::copy(front, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
  std::ranges::copy(value.first(kept),
                    bytes_.begin() + static_cast<std::ptrdiff_t>(size_ + front.size()));
  size_ += bytes;
}

void EventTextWriter::put_text(std::span<const std::byte> text) noexcept {
  if (size_ + text.size() <= kRoomForValues) {
    std::ranges::copy(text, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
    return;
  }
  while (const auto field = next_field(text)) put(field->field, field->value, kEventTextBytesMax);
}

std::optional<EventFieldValue> next_field(std::span<const std::byte>& text) noexcept {
  if (text.size() < kFieldHeaderBytes) return std::nullopt;
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint16_t>(text[i]); };
  const auto size = static_cast<std::uint16_t>(at(1) | at(2) << 8);
  const std::size_t bytes = size & ~kCutBit;
  if (at(0) >= static_cast<std::uint16_t>(EventField::kCount)) return std::nullopt;
  if (bytes > text.size() - kFieldHeaderBytes) return std::nullopt;
  const EventFieldValue value{.field = static_cast<EventField>(at(0)),
                              .is_cut = (size & kCutBit) != 0,
                              .value = text.subspan(kFieldHeaderBytes, bytes)};
  text = text.subspan(kFieldHeaderBytes + bytes);
  return value;
}

void next_line(std::span<const EventRecord>& records, EventLine& line) noexcept {
  line.record = records[0];
  line.text_size = 0;
  const std::size_t texts = texts_of(line.record);
  records = records.subspan(1);
  line.is_whole = line.record.kind != EventKind::kText && texts <= kEventTextsMax &&
                  texts <= records.size() && are_texts(records.first(texts));
  if (!line.is_whole) return;
  for (std::size_t i = 0; i < texts; ++i) {
    const auto text = std::bit_cast<EventText>(records[i]);
    const auto to = line.text_bytes.begin() + static_cast<std::ptrdiff_t>(i * kEventTextBytes);
    std::ranges::copy(text.front, to);
    std::ranges::copy(text.back, to + kEventTextFrontBytes);
    line.text_size += text.bytes;
  }
  line.is_whole = line.record.kind == EventKind::kStream || are_fields(line.text());
  if (line.is_whole) records = records.subspan(texts);
}

std::uint32_t whole_lines(std::span<const EventRecord> records) noexcept {
  std::size_t at = 0;
  while (at < records.size()) {
    const std::size_t texts = texts_of(records[at]);
    const std::size_t rest = records.size() - at - 1;
    if (texts > rest && texts <= kEventTextsMax && are_texts(records.subspan(at + 1))) break;
    ++at;
  }
  return static_cast<std::uint32_t>(at);
}

}  // namespace millrace
