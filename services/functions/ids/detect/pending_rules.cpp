// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/pending_rules.hpp"

#include <algorithm>

#include "services/functions/ids/detect/rule_routes.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t folded(std::uint8_t byte) noexcept {
  return byte >= 'A' && byte <= 'Z' ? static_cast<std::uint8_t>(byte | 0x20) : byte;
}

constexpr std::uint16_t pair_of(std::uint8_t first, std::uint8_t second) noexcept {
  return static_cast<std::uint16_t>(folded(first) << 8 | folded(second));
}

constexpr std::uint16_t pair_at(std::span<const char> literal, std::size_t at) noexcept {
  return pair_of(static_cast<std::uint8_t>(literal[at]),
                 static_cast<std::uint8_t>(literal[at + 1]));
}

auto place_of(auto& pending, std::uint32_t signature) noexcept {
  return std::ranges::lower_bound(pending, signature, {}, &PendingRule::signature);
}

}  // namespace

bool keep_pending(PendingRules& pending, const PendingRule& rule) {
  auto at = place_of(pending, rule.signature);
  if (at != pending.end() && at->signature == rule.signature) {
    at->missing = rule.missing;
    at->pair = rule.pair;
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
  pairs_.fill(0);
  pairs_[0] = 1;  // last_pair() of a single byte
  for (std::size_t at = 1; at < text_.size(); ++at) {
    const std::uint16_t pair = pair_of(std::to_integer<std::uint8_t>(text_[at - 1]),
                                       std::to_integer<std::uint8_t>(text_[at]));
    pairs_[pair / kWordBits] |= std::uint64_t{1} << pair % kWordBits;
  }
}

std::uint16_t NewBytes::last_pair(const ContentMatch& content) noexcept {
  const std::span<const char> bytes(content.bytes);
  return bytes.size() < 2 ? std::uint16_t{0} : pair_at(bytes, bytes.size() - 2);
}

bool NewBytes::has_pairs_of(std::span<const char> literal) const noexcept {
  for (std::size_t at = 1; at < literal.size(); ++at) {
    const std::size_t pair =
        pair_of(static_cast<std::uint8_t>(literal[at - 1]), static_cast<std::uint8_t>(literal[at]));
    if ((pairs_[pair / kWordBits] >> pair % kWordBits & 1) == 0) return false;
  }
  return true;
}

bool NewBytes::has_end_of(const ContentMatch& content) const noexcept {
  const std::span<const char> bytes(content.bytes);
  const std::span<const char> literal = bytes.last(std::min(bytes.size(), kGateBytesMax));
  if (literal.empty() || !has_pairs_of(literal)) return false;
  const std::size_t before = std::min(seen_, literal.size() - 1);
  const std::span<const std::byte> text = text_.subspan(seen_ - before);
  const bool nocase = content.nocase;
  return !std::ranges::search(text, literal, [nocase](std::byte there, char wanted) {
            const auto byte = std::to_integer<std::uint8_t>(there);
            return (nocase ? folded(byte) : byte) == static_cast<std::uint8_t>(wanted);
          }).empty();
}

}  // namespace millrace
