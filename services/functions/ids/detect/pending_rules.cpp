// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/pending_rules.hpp"

#include <algorithm>
#include <cstring>

#include "services/functions/ids/detect/rule_routes.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t folded(std::uint8_t byte) noexcept {
  return byte >= 'A' && byte <= 'Z' ? static_cast<std::uint8_t>(byte | 0x20) : byte;
}

constexpr std::size_t kMarkBytes = 3;

/// Of the three bytes from `at` on.
std::uint16_t mark_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  constexpr std::uint32_t kFactor = 0x9e3779b1;  // Fibonacci hashing (Knuth, TAOCP 3, 6.4)
  std::uint32_t word = 0;
  for (const std::byte byte : bytes.subspan(at, kMarkBytes)) {
    word = word << 8 | folded(std::to_integer<std::uint8_t>(byte));
  }
  return static_cast<std::uint16_t>(word * kFactor >> 16);
}

auto place_of(auto& pending, std::uint32_t signature) noexcept {
  return std::ranges::lower_bound(pending, signature, {}, &PendingRule::signature);
}

}  // namespace

bool keep_pending(PendingRules& pending, const PendingRule& rule) {
  auto at = place_of(pending, rule.signature);
  if (at != pending.end() && at->signature == rule.signature) {
    at->missing = rule.missing;
    at->mark = rule.mark;
    return true;
  }
  const bool is_full = pending.size() >= kPendingMax;
  if (is_full) {
    pending.erase(std::ranges::min_element(pending, {}, &PendingRule::since));
    at = place_of(pending, rule.signature);
  }
  pending.insert(at, rule);
  return !is_full;
}

void drop_pending(PendingRules& pending, std::uint32_t signature) noexcept {
  const auto at = place_of(pending, signature);
  if (at != pending.end() && at->signature == signature) pending.erase(at);
}

const PendingRule* find_pending(const PendingRules& pending, std::uint32_t signature) noexcept {
  const auto at = place_of(pending, signature);
  return at != pending.end() && at->signature == signature ? &*at : nullptr;
}

void NewBytes::take(const BufferValue& value) noexcept {
  const std::size_t back = std::min<std::size_t>(value.seen, kGateBytesMax - 1);
  text_ = value.bytes.subspan(value.seen - back);
  seen_ = back;
  marks_.fill(0);
  marks_[kNoMark] = 1;
  for (std::size_t at = 0; at + kMarkBytes <= text_.size(); ++at) {
    const std::uint16_t mark = mark_at(text_, at);
    marks_[mark / kWordBits] |= std::uint64_t{1} << mark % kWordBits;
  }
}

std::uint16_t NewBytes::last_mark(const ContentMatch& content) noexcept {
  const auto bytes = std::as_bytes(std::span{content.bytes});
  return bytes.size() < kMarkBytes ? kNoMark : mark_at(bytes, bytes.size() - kMarkBytes);
}

bool NewBytes::has_marks_of(std::span<const std::byte> literal) const noexcept {
  for (std::size_t at = 0; at + kMarkBytes <= literal.size(); ++at) {
    if (!has_mark(mark_at(literal, at))) return false;
  }
  return true;
}

bool NewBytes::has_end_of(const ContentMatch& content) const noexcept {
  const auto bytes = std::as_bytes(std::span{content.bytes});
  const std::span<const std::byte> literal = bytes.last(std::min(bytes.size(), kGateBytesMax));
  if (literal.empty() || !has_marks_of(literal)) return false;
  const std::span<const std::byte> text =
      text_.subspan(seen_ - std::min(seen_, literal.size() - 1));
  if (!content.nocase) {
    return memmem(text.data(), text.size(), literal.data(), literal.size()) != nullptr;
  }
  const auto is_same = [](std::byte there, std::byte wanted) {
    return folded(std::to_integer<std::uint8_t>(there)) == std::to_integer<std::uint8_t>(wanted);
  };
  return std::search(text.begin(), text.end(), literal.begin(), literal.end(), is_same) !=
         text.end();
}

}  // namespace millrace
