// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/pending_rules.hpp"

#include <algorithm>
#include <string_view>

#include "services/functions/ids/detect/content_search.hpp"
#include "services/functions/ids/detect/rule_routes.hpp"
#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

constexpr std::size_t kMarkBytes = 3;
/// A search for a literal costs about a twentieth of the marks of its text.
constexpr std::size_t kSearchedLiteralsMax = 16;

/// Of three bytes in lower case, the first one lowest. Fibonacci hashing (Knuth, TAOCP 3, 6.4).
constexpr std::uint16_t mark_of(std::uint32_t word) noexcept {
  constexpr std::uint32_t kFactor = 0x9e3779b1;
  return static_cast<std::uint16_t>(word * kFactor >> 16);
}

constexpr std::uint32_t lowered(std::byte byte) noexcept {
  return ascii_lower(std::to_integer<unsigned char>(byte));
}

/// Of the three bytes from `at` on.
std::uint16_t mark_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  return mark_of(lowered(bytes[at]) | lowered(bytes[at + 1]) << 8 | lowered(bytes[at + 2]) << 16);
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

void NewBytes::take(const BufferValue& value, std::size_t literals) noexcept {
  const std::size_t back = std::min<std::size_t>(value.seen, kGateBytesMax - 1);
  text_ = value.bytes.subspan(value.seen - back);
  seen_ = back;
  has_marks_ = literals > kSearchedLiteralsMax;
  if (has_marks_) mark();
}

void NewBytes::mark() noexcept {
  marks_.fill(0);
  marks_[kNoMark] = 1;
  if (text_.size() < kMarkBytes) return;
  std::uint32_t word = lowered(text_[0]) << 8 | lowered(text_[1]) << 16;
  for (const std::byte byte : text_.subspan(kMarkBytes - 1)) {
    word = word >> 8 | lowered(byte) << 16;
    const std::uint16_t mark = mark_of(word);
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
  if (literal.empty() || (has_marks_ && !has_marks_of(literal))) return false;
  const std::span<const std::byte> text =
      text_.subspan(seen_ - std::min(seen_, literal.size() - 1));
  const std::string_view end =
      std::string_view(content.bytes).substr(bytes.size() - literal.size());
  return find_content(text, 0, {.bytes = end, .nocase = content.nocase}) != kNotFound;
}

}  // namespace millrace
