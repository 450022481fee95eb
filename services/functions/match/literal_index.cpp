// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/literal_index.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <unordered_map>

namespace millrace {
namespace {

constexpr std::uint32_t kBucketBitsMin = 8, kBucketBitsMax = 20;
/// Anchors are sought among the first bytes of a literal: more give no rarer ones.
constexpr std::size_t kAnchorPlacesMax = 128;

std::uint32_t word_of(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes && at + i < text.size(); ++i) {
    word |= std::uint32_t{static_cast<unsigned char>(text[at + i])} << 8 * i;
  }
  return word;
}

/// How common a byte is in traffic, roughly: text and zeros before punctuation before the rest.
std::uint32_t commonness(std::uint8_t byte) {
  constexpr std::string_view kMost = " etaoinsrhl\0/";
  if (byte == 0 || kMost.find(static_cast<char>(byte)) != std::string_view::npos) return 4;
  if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == 0xff) return 3;
  if (byte >= ' ' && byte < 0x7f) return 2;
  return byte == '\r' || byte == '\n' ? 3 : 1;
}

std::uint32_t commonness_of(std::uint32_t anchor) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < kAnchorBytes; ++i) {
    sum += commonness(static_cast<std::uint8_t>(anchor >> 8 * i));
  }
  return sum;
}

/// Chooses anchors: the rarest by bytes, and of those the one that fewest literals hold.
class Anchors {
 public:
  explicit Anchors(std::span<const MatchRule> rules) {
    for (const MatchRule& rule : rules) {
      for (std::size_t at = 0; at < places(rule.literal); ++at) ++held_[anchor(rule.literal, at)];
    }
  }
  /// Place of the anchor in the literal, which is long enough to have one.
  std::size_t choose(std::string_view literal) const {
    std::size_t best = 0;
    std::uint64_t least = UINT64_MAX;
    for (std::size_t at = 0; at < places(literal); ++at) {
      const std::uint32_t word = anchor(literal, at);
      const std::uint64_t cost = std::uint64_t{commonness_of(word)} << 32 | held_.at(word);
      if (cost < least) {
        least = cost;
        best = at;
      }
    }
    return best;
  }
  static std::uint32_t anchor(std::string_view literal, std::size_t at) {
    return fold_case(word_of(literal, at, kAnchorBytes));
  }

 private:
  static std::size_t places(std::string_view literal) {
    if (literal.size() < kAnchorBytes) return 0;
    return std::min(literal.size() - kAnchorBytes + 1, kAnchorPlacesMax);
  }
  std::unordered_map<std::uint32_t, std::uint32_t> held_;
};

std::uint32_t add_to_pool(const MatchRule& rule, std::vector<std::uint32_t>& pool) {
  const auto at = static_cast<std::uint32_t>(pool.size());
  for (std::size_t i = 0; i < rule.literal.size(); i += 4) {
    const std::uint32_t word = word_of(rule.literal, i, 4);
    pool.push_back(rule.nocase ? fold_case(word) : word);
  }
  return at;
}

/// One entry for each pair of first bytes that a short literal can have; those of one byte have
/// all 256.
void add_short(const MatchRule& rule, LiteralEntry entry, std::vector<LiteralEntry>& entries) {
  const std::uint32_t pair = fold_case(word_of(rule.literal, 0, 2));
  if (rule.literal.size() > 1) {
    entry.anchor = pair;
    entries.push_back(entry);
    return;
  }
  for (std::uint32_t second = 0; second < 256; ++second) {
    entry.anchor = pair | second << 8;
    entries.push_back(entry);
  }
}

/// Sorts `entries` by bucket, then rule, and returns where each bucket starts.
template <typename BucketOf>
std::vector<std::uint32_t> sort_into(std::vector<LiteralEntry>& entries, std::uint32_t buckets,
                                     BucketOf bucket_of) {
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const LiteralEntry& one, const LiteralEntry& other) {
                     return bucket_of(one) < bucket_of(other);
                   });
  std::vector<std::uint32_t> starts(std::size_t{buckets} + 1);
  for (const LiteralEntry& entry : entries) ++starts[bucket_of(entry) + 1];
  for (std::uint32_t i = 0; i < buckets; ++i) starts[i + 1] += starts[i];
  return starts;
}

LiteralEntry entry_of(const MatchRule& rule, std::uint32_t number, std::uint32_t literal_at) {
  return {.anchor = 0,
          .rule = number,
          .literal_at = literal_at,
          .bytes = static_cast<std::uint16_t>(rule.literal.size()),
          .anchor_at = 0,
          .port = rule.port,
          .protocol = rule.protocol,
          .nocase = rule.nocase ? std::uint8_t{1} : std::uint8_t{0}};
}

}  // namespace

LiteralTables index_literals(std::span<const MatchRule> rules) {
  LiteralTables tables;
  const Anchors anchors(rules);
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    const MatchRule& rule = rules[number];
    if (rule.action == MatchAction::kDrop) ++tables.counts.drop_rules;
    LiteralEntry entry = entry_of(rule, number, add_to_pool(rule, tables.pool));
    if (rule.literal.size() < kAnchorBytes) {
      add_short(rule, entry, tables.short_entries);
      continue;
    }
    const std::size_t at = anchors.choose(rule.literal);
    entry.anchor_at = static_cast<std::uint16_t>(at);
    entry.anchor = Anchors::anchor(rule.literal, at);
    tables.entries.push_back(entry);
  }
  LiteralCounts& counts = tables.counts;
  counts.rules = static_cast<std::uint32_t>(rules.size());
  counts.entries = static_cast<std::uint32_t>(tables.entries.size());
  counts.short_entries = static_cast<std::uint32_t>(tables.short_entries.size());
  counts.pool_words = static_cast<std::uint32_t>(tables.pool.size());
  const auto bits = static_cast<std::uint32_t>(std::bit_width(tables.entries.size() * 4));
  counts.bucket_bits = std::clamp(bits, kBucketBitsMin, kBucketBitsMax);

  tables.filter.resize(kFilterWords);
  for (const LiteralEntry& entry : tables.entries) {
    filter_add(tables.filter.data(), entry.anchor);
  }
  tables.buckets = sort_into(tables.entries, 1u << counts.bucket_bits, [&](const LiteralEntry& e) {
    return anchor_hash(e.anchor, counts.bucket_bits);
  });
  if (counts.short_entries != 0) {
    tables.pairs = sort_into(tables.short_entries, kPairCount,
                             [](const LiteralEntry& entry) { return entry.anchor; });
  }
  return tables;
}

LiteralIndex LiteralTables::view() const {
  return {.counts = counts,
          .filter = filter.data(),
          .buckets = buckets.data(),
          .entries = entries.data(),
          .pairs = pairs.empty() ? nullptr : pairs.data(),
          .short_entries = short_entries.data(),
          .pool = pool.data()};
}

}  // namespace millrace
