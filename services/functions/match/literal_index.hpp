// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/match/rules.hpp"

/// The literals of `match` for a processor with thousands of threads: each looks at one place of a
/// payload, where four bytes, folded to lower case, are asked in a filter of bits whether some
/// literal has them as its anchor; the few that have are compared as a whole. An anchor is the four
/// bytes of the literal that are rarest in traffic. Literals of one to three bytes go by their
/// first two. (Filter and verify: Wu and Manber, A Fast Algorithm for Multi-Pattern Searching,
/// 1994; Vasiliadis et al., GASPP, 2014, for GPUs.)

namespace millrace {

inline constexpr std::uint32_t kAnchorBytes = 4;
inline constexpr std::uint32_t kFilterBits = 18;  ///< 32 KB, in the shared memory of a block
inline constexpr std::uint32_t kFilterWords = 1u << (kFilterBits - 5);
inline constexpr std::uint32_t kPairCount = 1u << 16;  ///< of first two bytes
inline constexpr std::uint32_t kPairMask = kPairCount - 1;
inline constexpr std::uint32_t kAnchorFactor = 0x9e3779b1;
inline constexpr std::uint32_t kSecondFactor = 0x85ebca6b;

/// Result word of a packet whose payload is hidden: chain_breaks_off().
inline constexpr std::uint32_t kMatchHidden = UINT32_MAX - 2;

/// A literal at one of its anchors.
struct LiteralEntry {
  std::uint32_t anchor;      ///< the bytes, folded, first one lowest
  std::uint32_t rule;        ///< its number: 0 is the strongest
  std::uint32_t literal_at;  ///< words from the start of the pool; folded there with nocase
  std::uint16_t bytes;       ///< of the literal
  std::uint16_t anchor_at;   ///< of the anchor in the literal
  std::uint16_t port;        ///< either side; 0 any
  std::uint8_t protocol;     ///< 0 any
  std::uint8_t nocase;
};
static_assert(sizeof(LiteralEntry) == 20 && alignof(LiteralEntry) == 4);
static_assert(offsetof(LiteralEntry, literal_at) == 8 && offsetof(LiteralEntry, bytes) == 12 &&
              offsetof(LiteralEntry, anchor_at) == 14 && offsetof(LiteralEntry, port) == 16 &&
              offsetof(LiteralEntry, protocol) == 18 && offsetof(LiteralEntry, nocase) == 19);

/// How many of each the index has.
struct LiteralCounts {
  std::uint32_t rules;        ///< of the image
  std::uint32_t drop_rules;   ///< the first ones
  std::uint32_t bucket_bits;  ///< 2^bucket_bits buckets of anchors
  std::uint32_t entries;
  std::uint32_t short_entries;  ///< 0: no literal is shorter than an anchor, and no pairs are there
  std::uint32_t pool_words;
};
static_assert(sizeof(LiteralCounts) == 24);

/// A cheap view; borrowed. Entries of bucket b are [buckets[b], buckets[b + 1]), ordered by rule;
/// likewise those of a pair of first bytes.
struct LiteralIndex {
  LiteralCounts counts{};
  const std::uint32_t* filter = nullptr;   ///< kFilterWords
  const std::uint32_t* buckets = nullptr;  ///< 2^bucket_bits + 1
  const LiteralEntry* entries = nullptr;
  const std::uint32_t* pairs = nullptr;  ///< kPairCount + 1; null without short entries
  const LiteralEntry* short_entries = nullptr;
  const std::uint32_t* pool = nullptr;
};

constexpr std::uint32_t anchor_hash(std::uint32_t anchor, std::uint32_t bits) {
  return (anchor * kAnchorFactor) >> (32 - bits);
}

/// Two bits of the filter for each anchor (Bloom, 1970): with 4,400 literals one window in a
/// thousand passes by chance, with one bit one in sixty.
template <typename Word>
constexpr bool filter_has(Word* filter, std::uint32_t anchor) {
  const std::uint32_t first = anchor_hash(anchor, kFilterBits);
  if ((filter[first / 32] >> first % 32 & 1) == 0) return false;
  const std::uint32_t second = (anchor * kSecondFactor) >> (32 - kFilterBits);
  return (filter[second / 32] >> second % 32 & 1) != 0;
}
constexpr void filter_add(std::uint32_t* filter, std::uint32_t anchor) {
  const std::uint32_t first = anchor_hash(anchor, kFilterBits);
  const std::uint32_t second = (anchor * kSecondFactor) >> (32 - kFilterBits);
  filter[first / 32] |= 1u << first % 32;
  filter[second / 32] |= 1u << second % 32;
}

/// A-Z becomes a-z in each of the four bytes.
constexpr std::uint32_t fold_case(std::uint32_t word) {
  const std::uint32_t low = word & 0x7f7f7f7f;
  const std::uint32_t from_a = low + 0x3f3f3f3f, behind_z = low + 0x25252525;
  return word | (from_a & ~behind_z & ~word & 0x80808080) >> 2;
}

/// The part of a packet that is searched, and what a rule may ask of the rest.
struct Payload {
  std::uint32_t begin, end;  ///< positions in the text
  std::uint8_t protocol;
  std::uint16_t ports[2];  ///< 0: has none
};

constexpr bool may_apply(const LiteralEntry& entry, const Payload& payload) {
  return (entry.protocol == 0 || entry.protocol == payload.protocol) &&
         (entry.port == 0 || entry.port == payload.ports[0] || entry.port == payload.ports[1]);
}

/// `Text`: word(at), the four bytes from position `at` on, first one lowest; asked up to three
/// bytes behind the payload's end, where anything may stand.
template <typename Text>
constexpr bool is_literal_at(const LiteralIndex& index, const LiteralEntry& entry, const Text& text,
                             std::uint32_t at) {
  for (std::uint32_t done = 0; done < entry.bytes; done += 4) {
    const std::uint32_t left = entry.bytes - done;
    const std::uint32_t mask = left >= 4 ? ~0u : (1u << 8 * left) - 1;
    const std::uint32_t word = text.word(at + done);
    const std::uint32_t there = entry.nocase != 0 ? fold_case(word) : word;
    if (((there ^ index.pool[entry.literal_at + done / 4]) & mask) != 0) return false;
  }
  return true;
}

/// The rule of `entry` if it is below `best` and the literal stands in the text, its anchor at
/// `at`, where the bytes of `anchor` stand; else `best`.
template <typename Text>
constexpr std::uint32_t stronger_of(const LiteralIndex& index, const LiteralEntry& entry,
                                    std::uint32_t anchor, const Text& text, const Payload& payload,
                                    std::uint32_t at, std::uint32_t best) {
  if (entry.rule >= best || entry.anchor != anchor) return best;
  if (at - payload.begin < entry.anchor_at) return best;
  const std::uint32_t start = at - entry.anchor_at;
  if (payload.end - start < entry.bytes || !may_apply(entry, payload)) return best;
  return is_literal_at(index, entry, text, start) ? entry.rule : best;
}

/// The parts of an index, as they stand in the image.
struct LiteralTables {
  LiteralCounts counts{};
  std::vector<std::uint32_t> filter, buckets, pairs, pool;
  std::vector<LiteralEntry> entries, short_entries;
  LiteralIndex view() const;
};
/// `rules` in the order of their strength. Builder's thread.
LiteralTables index_literals(std::span<const MatchRule> rules);

}  // namespace millrace
