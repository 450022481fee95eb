// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/transaction.hpp"

#include <algorithm>
#include <utility>

namespace millrace {

namespace {

/// Values that were seen whole are kept up to this number: a body of many files forgets them.
constexpr std::size_t kSeenPartsMax = 16;
/// A value that needs more room gets so many times of what it has: bodies are copied less often.
constexpr std::size_t kGrowth = 4;

/// Room of a value that is kept for another one, and how much of it a transaction keeps.
constexpr std::size_t kRoomBytesMax = 1024, kRoomsMax = 64;

/// The body of a response is its file: they are kept once.
std::size_t place_of(std::uint8_t direction, RuleBuffer buffer) noexcept {
  const bool is_file = direction == 1 && buffer == RuleBuffer::kHttpResponseBody;
  return static_cast<std::size_t>(is_file ? RuleBuffer::kFileData : buffer);
}

std::size_t held_by(const BufferPart& part) noexcept { return sizeof part + part.bytes.capacity(); }

/// Of a value that gets `more` bytes. Dropping half of the limit at a time costs one copy of each
/// byte; dropping only what is needed would move all bytes each time.
std::size_t bytes_to_drop(const BufferPart& part, std::size_t more, std::size_t limit) {
  const std::size_t size = part.bytes.size();
  if (size + more <= limit) return 0;
  const std::size_t needed = size + more - limit;
  const std::size_t behind_half = size - std::min(size, limit / 2);
  return std::max(needed, std::min<std::size_t>(part.seen, behind_half));
}

}  // namespace

std::string_view name_of(AppProtocol protocol) noexcept {
  static constexpr std::array<std::string_view, kAppProtocols> kNames = {
      "unknown", "failed", "http", "tls", "dns", "ssh", "smtp", "ftp", "smb", "http2"};
  return kNames[static_cast<std::size_t>(protocol)];
}

void Transaction::put(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes) {
  const std::size_t place = place_of(direction, buffer);
  BufferPart& part = parts_[direction][place].emplace_back();
  if (!rooms_.empty() && bytes.size() > part.bytes.capacity()) {
    text_bytes_ -= rooms_.back().capacity();
    part.bytes = std::move(rooms_.back());
    rooms_.pop_back();
  }
  part.bytes = bytes;
  text_bytes_ += held_by(part);
  part.is_complete = true;
  used_[direction].set(place);
  news_[direction].set(place);
}

void Transaction::put_new(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes) {
  std::vector<BufferPart>& parts = parts_[direction][place_of(direction, buffer)];
  const auto is_it = [&](const BufferPart& part) { return part.bytes == bytes; };
  if (std::ranges::any_of(parts, is_it)) return;
  forget_seen_parts(parts);
  put(direction, buffer, bytes);
}

void Transaction::append(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes,
                         std::size_t limit) {
  const std::size_t place = place_of(direction, buffer);
  std::vector<BufferPart>& parts = parts_[direction][place];
  if (parts.empty() || parts.back().is_complete) {
    forget_seen_parts(parts);
    parts.emplace_back();
    if (pool_ != nullptr) parts.back().bytes = pool_->take();
    text_bytes_ += held_by(parts.back());
    used_[direction].set(place);
  }
  BufferPart& part = parts.back();
  const std::size_t skipped = bytes.size() > limit ? bytes.size() - limit : 0;
  const std::size_t kept = bytes.size() - skipped;
  const std::size_t gone = bytes_to_drop(part, kept, limit);
  const std::size_t room = part.bytes.capacity();
  part.bytes.erase(0, gone);
  part.source = part.seen == gone + part.bytes.size() ? bytes.data() + skipped : nullptr;
  if (part.bytes.size() + kept > part.bytes.capacity()) {
    const std::size_t wanted = std::min(limit, kGrowth * part.bytes.size());
    part.bytes.reserve(std::max(part.bytes.size() + kept, wanted));
  }
  part.bytes.append(bytes.substr(skipped));
  text_bytes_ += part.bytes.capacity() - room;
  part.seen -= static_cast<std::uint32_t>(std::min<std::size_t>(part.seen, gone));
  part.base += gone + skipped;
  news_[direction].set(place);
}

void Transaction::complete(std::uint8_t direction, RuleBuffer buffer) noexcept {
  const std::size_t place = place_of(direction, buffer);
  std::vector<BufferPart>& parts = parts_[direction][place];
  if (!parts.empty() && parts.back().is_complete) return;
  if (!parts.empty()) parts.back().is_complete = true;
  news_[direction].set(place);
}

void Transaction::complete(std::uint8_t direction) noexcept {
  if (complete_[direction]) return;
  for (std::size_t i = 0; i < kRuleBufferCount; ++i) {
    complete(direction, static_cast<RuleBuffer>(i));
  }
  complete_[direction] = true;
}

/// A value may take over the room of one that is gone.
void Transaction::forget_seen_parts(std::vector<BufferPart>& parts) noexcept {
  if (parts.size() < kSeenPartsMax) return;
  for (const BufferPart& part : parts) text_bytes_ -= held_by(part);
  std::erase_if(parts, [](const BufferPart& part) {
    return part.is_complete && part.seen == part.bytes.size();
  });
  for (const BufferPart& part : parts) text_bytes_ += held_by(part);
}

void Transaction::keep_room(BufferPart& part) {
  text_bytes_ -= held_by(part);
  if (part.bytes.capacity() > kRoomBytesMax) {
    if (pool_ != nullptr) pool_->give(std::move(part.bytes));
  } else if (part.bytes.capacity() > std::string().capacity() && rooms_.size() < kRoomsMax) {
    text_bytes_ += part.bytes.capacity();
    rooms_.push_back(std::move(part.bytes));
  }
}

void Transaction::forget_bodies(std::uint8_t direction) {
  for (const RuleBuffer buffer : {RuleBuffer::kHttpRequestBody, RuleBuffer::kFileData}) {
    std::vector<BufferPart>& parts = this->parts(direction, buffer);
    for (BufferPart& part : parts) keep_room(part);
    parts.clear();
  }
}

void Transaction::recycle() {
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    for (std::uint64_t left = used_[direction].bits; left != 0; left &= left - 1) {
      std::vector<BufferPart>& parts =
          parts_[direction][static_cast<std::size_t>(std::countr_zero(left))];
      for (BufferPart& part : parts) keep_room(part);
      parts.clear();
      if (parts.capacity() > kSeenPartsMax) parts.shrink_to_fit();
    }
    messages[direction] = {};
  }
  envelope = {};
  waiting.clear();
  for (auto& of_direction : matched) of_direction.clear();
}

void Transaction::renew(AppProtocol protocol, std::uint64_t number) noexcept {
  protocol_ = protocol;
  number_ = number;
  news_ = used_ = {};
  complete_ = {};
  body_bytes = {};
  stream = 0;
  is_logged = false;
}

std::size_t Transaction::held() const noexcept {
  std::size_t bytes = sizeof *this + text_bytes_ + waiting.capacity() * sizeof(WaitingRule) +
                      (matched[0].capacity() + matched[1].capacity()) * sizeof(std::uint32_t) +
                      messages[0].capacity() + messages[1].capacity() + envelope.helo.capacity() +
                      envelope.from.capacity();
  for (const std::string& one : envelope.recipients) bytes += sizeof(std::string) + one.capacity();
  return bytes;
}

std::vector<BufferPart>& Transaction::parts(std::uint8_t direction, RuleBuffer buffer) noexcept {
  return parts_[direction][place_of(direction, buffer)];
}

bool Transaction::has_news(std::uint8_t direction, RuleBuffer buffer) const noexcept {
  return news_[direction].has(place_of(direction, buffer));
}

void Transaction::taken(std::uint8_t direction) noexcept {
  each_news(direction, [&](RuleBuffer buffer) {
    for (BufferPart& part : parts(direction, buffer)) {
      part.seen = static_cast<std::uint32_t>(part.bytes.size());
      part.source = nullptr;
    }
  });
  news_[direction] = {};
}

}  // namespace millrace
