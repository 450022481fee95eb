// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "shared/base/limits.hpp"
#include "shared/base/mac.hpp"

/// What lies in shared memory of the table of neighbours (neighbour_table.hpp): the header, the
/// entries, and the words of an entry.
///
/// An entry is one cache line of eight words. Each change is one store or one compare-and-swap, and
/// a process may be killed, or stopped for any time, in front of each of them.
///
/// | offset | size | field     | bits, from the lowest                                            |
/// |-------:|-----:|-----------|------------------------------------------------------------------|
/// |      0 |    8 | word      | phase 2, pinned 1, generation 29, time of the claim in ms 32     |
/// |      8 |   24 | key[3]    | 48 each: address 0..3, port 14, family 2; 4..9; 10..15; tag 16   |
/// |     32 |    8 | link      | MAC 48, tag 13, state 3                                          |
/// |     40 |    8 | confirmed | time in ms 48, tag 16                                            |
/// |     48 |    8 | asked     | time in ms 40, solicitations unanswered since a proof 8, tag 16  |
/// |     56 |    8 | used_ms   | time in ms; a hint for eviction                                  |
///
/// A generation is one use of an entry for one key; each claim begins the next one. A tag is the
/// low bits of the generation for which a word was written. A process that stood still while its
/// entry went to another key cannot change the new key's words: its compare-and-swap expects a tag
/// of the past. Traffic changes the key of an entry at most once a second (kNeighbourClaimMs), so
/// a tag of 13 bits comes again after two hours: a swap can only go wrong when its process stood
/// still for an exact multiple of 8192 claims between the load and the swap.

namespace millrace {

/// A claim that is not published within this time belongs to a process that was killed. Also the
/// least time between two claims of an entry that is in use.
inline constexpr std::int32_t kNeighbourClaimMs = 1000;

/// A claim's time may lie so far ahead of the clock of a process that stood still since it read it.
inline constexpr std::int32_t kNeighbourClockSkewMs = 60'000;

enum class NeighbourFamily : std::uint8_t { kNone = 0, kIpv4 = 1, kIpv6 = 2 };

inline constexpr std::uint16_t kNeighbourPortMax = 0x3fff;

struct NeighbourKey {
  NeighbourFamily family = NeighbourFamily::kNone;
  std::uint16_t port = 0;                  ///< 0..kNeighbourPortMax, whose link the neighbour is on
  std::array<std::uint8_t, 16> address{};  ///< as on the wire; of IPv4 4 bytes, then zeros
  friend constexpr bool operator==(const NeighbourKey&, const NeighbourKey&) = default;
};

/// In an entry's link. kNone: never asked for.
enum class NeighbourState : std::uint8_t {
  kNone = 0,
  kIncomplete = 1,  ///< being asked for; no MAC
  kKnown = 2,
  kFailed = 3,  ///< asked for in vain; no MAC
  kStatic = 4,  ///< known by configuration: neither asked for nor changed by what is learnt
};

enum class NeighbourPhase : std::uint8_t {
  kEmpty = 0,
  kClaimed = 1,    ///< its key is being written
  kPublished = 2,  ///< its key stands until the next claim
};

struct alignas(kCacheLine) NeighbourHeader {
  std::atomic<std::uint64_t> secret;  ///< of the hash; 0: not set yet
  std::uint64_t padding_0[7];
  alignas(kCacheLine) std::atomic<std::uint64_t> full;  ///< inserts that found no place
  std::atomic<std::uint64_t> evicted;                   ///< entries that gave way to another key
  std::uint64_t padding_1[6];
};
static_assert(sizeof(NeighbourHeader) == 128 && alignof(NeighbourHeader) == 64);
static_assert(offsetof(NeighbourHeader, secret) == 0 && offsetof(NeighbourHeader, full) == 64);
static_assert(offsetof(NeighbourHeader, evicted) == 72);

struct alignas(kCacheLine) NeighbourEntry {
  std::atomic<std::uint64_t> word;
  std::atomic<std::uint64_t> key[3];
  std::atomic<std::uint64_t> link;
  std::atomic<std::uint64_t> confirmed;
  std::atomic<std::uint64_t> asked;
  std::atomic<std::uint64_t> used_ms;
};
static_assert(sizeof(NeighbourEntry) == 64);
static_assert(alignof(NeighbourEntry) == 64);
static_assert(offsetof(NeighbourEntry, word) == 0 && offsetof(NeighbourEntry, key) == 8);
static_assert(offsetof(NeighbourEntry, link) == 32 && offsetof(NeighbourEntry, confirmed) == 40);
static_assert(offsetof(NeighbourEntry, asked) == 48 && offsetof(NeighbourEntry, used_ms) == 56);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// NeighbourEntry::word.
struct NeighbourWord {
  static constexpr std::uint32_t kGenerationMask = (1u << 29) - 1;

  std::uint64_t bits = 0;

  static constexpr NeighbourWord of(NeighbourPhase phase, bool pinned, std::uint32_t generation,
                                    std::uint32_t claimed_ms) noexcept {
    return {std::uint64_t{claimed_ms} << 32 | std::uint64_t{generation & kGenerationMask} << 3 |
            std::uint64_t{pinned} << 2 | static_cast<std::uint64_t>(phase)};
  }
  constexpr NeighbourPhase phase() const noexcept { return static_cast<NeighbourPhase>(bits & 3); }
  constexpr bool pinned() const noexcept { return (bits >> 2 & 1) != 0; }
  constexpr std::uint32_t generation() const noexcept {
    return static_cast<std::uint32_t>(bits >> 3) & kGenerationMask;
  }
  /// Never 0: the word of an entry that was claimed once is never 0 again.
  constexpr std::uint32_t next_generation() const noexcept {
    const std::uint32_t next = (generation() + 1) & kGenerationMask;
    return next == 0 ? 1 : next;
  }
  constexpr std::uint32_t claimed_ms() const noexcept {
    return static_cast<std::uint32_t>(bits >> 32);
  }
  /// Claimed within the last second, or in the next kNeighbourClockSkewMs, as far as 32 bits of
  /// milliseconds can tell.
  constexpr bool is_fresh(std::uint64_t now_ms) const noexcept {
    const auto age_ms =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(now_ms) - claimed_ms());
    return age_ms > -kNeighbourClockSkewMs && age_ms < kNeighbourClaimMs;
  }
  constexpr bool is_published(std::uint32_t of_generation) const noexcept {
    return phase() == NeighbourPhase::kPublished && generation() == of_generation;
  }
  constexpr NeighbourWord with_pin(bool pin) const noexcept {
    return of(phase(), pin, generation(), claimed_ms());
  }
  constexpr NeighbourWord emptied() const noexcept {
    return of(NeighbourPhase::kEmpty, false, generation(), claimed_ms());
  }
};

/// A word with a tag of `kTagBits` at `kTagShift`; the rest is the value.
template <std::uint32_t kTagShift, std::uint32_t kTagBits>
struct NeighbourTag {
  static constexpr std::uint64_t kMask = ((std::uint64_t{1} << kTagBits) - 1) << kTagShift;

  static constexpr std::uint64_t tagged(std::uint64_t value, std::uint32_t generation) noexcept {
    return (value & ~kMask) | (std::uint64_t{generation} << kTagShift & kMask);
  }
  static constexpr std::uint64_t value(std::uint64_t word) noexcept { return word & ~kMask; }
  static constexpr bool has_tag(std::uint64_t word, std::uint32_t generation) noexcept {
    return (word & kMask) == tagged(0, generation);
  }
  /// Of a generation behind `generation`: less than half a round of tags.
  static constexpr bool is_newer(std::uint64_t word, std::uint32_t generation) noexcept {
    const std::uint64_t ahead = ((word & kMask) - tagged(0, generation)) & kMask;
    return ahead != 0 && ahead >> (kTagShift + kTagBits - 1) == 0;
  }
};
using NeighbourWordTag = NeighbourTag<48, 16>;  ///< of key, confirmed, asked
using NeighbourLinkTag = NeighbourTag<48, 13>;

/// NeighbourEntry::link: one store changes MAC and state together.
constexpr std::uint64_t neighbour_link(NeighbourState state, const MacAddress& mac,
                                       std::uint32_t generation) noexcept {
  std::uint64_t bits = static_cast<std::uint64_t>(state) << 61;
  for (std::size_t i = 0; i < mac.size(); ++i) bits |= std::uint64_t{mac[i]} << (8 * i);
  return NeighbourLinkTag::tagged(bits, generation);
}
constexpr NeighbourState state_of_link(std::uint64_t link) noexcept {
  return static_cast<NeighbourState>(link >> 61);
}
constexpr MacAddress mac_of_link(std::uint64_t link) noexcept {
  MacAddress mac{};
  for (std::size_t i = 0; i < mac.size(); ++i) mac[i] = static_cast<std::uint8_t>(link >> (8 * i));
  return mac;
}

/// NeighbourEntry::asked.
constexpr std::uint64_t neighbour_asked(std::uint64_t asked_ms, std::uint32_t asks,
                                        std::uint32_t generation) noexcept {
  constexpr std::uint64_t kTimeMask = (std::uint64_t{1} << 40) - 1;
  return NeighbourWordTag::tagged((asked_ms & kTimeMask) | std::uint64_t{asks & 0xff} << 40,
                                  generation);
}
constexpr std::uint64_t asked_ms_of(std::uint64_t asked) noexcept {
  return asked & ((std::uint64_t{1} << 40) - 1);
}
constexpr std::uint32_t asks_of(std::uint64_t asked) noexcept {
  return static_cast<std::uint32_t>(asked >> 40) & 0xff;
}

/// NeighbourEntry::key without tags. Equal for equal keys only.
struct NeighbourKeyWords {
  std::uint64_t value[3];

  static NeighbourKeyWords of(const NeighbourKey& key) noexcept {
    NeighbourKeyWords words{};
    std::memcpy(&words.value[0], key.address.data(), 4);
    std::memcpy(&words.value[1], key.address.data() + 4, 6);
    std::memcpy(&words.value[2], key.address.data() + 10, 6);
    words.value[0] |= static_cast<std::uint64_t>(key.port & kNeighbourPortMax) << 32;
    words.value[0] |= static_cast<std::uint64_t>(key.family) << 46;
    return words;
  }
  NeighbourKey key() const noexcept {
    NeighbourKey key;
    std::memcpy(key.address.data(), &value[0], 4);
    std::memcpy(key.address.data() + 4, &value[1], 6);
    std::memcpy(key.address.data() + 10, &value[2], 6);
    key.port = static_cast<std::uint16_t>(value[0] >> 32) & kNeighbourPortMax;
    key.family = static_cast<NeighbourFamily>(value[0] >> 46 & 3);
    return key;
  }
  /// Where its window begins. Two rounds of multiply and fold with a secret: a sender cannot choose
  /// addresses that meet in one window without knowing it. A product of addresses in a row is too
  /// regular by itself, hence the last lines (the finalizer of MurmurHash3).
  constexpr std::uint64_t hash(std::uint64_t secret) const noexcept {
    std::uint64_t mixed = fold(value[1] ^ secret, value[0] ^ (secret << 32 | secret >> 32));
    mixed = fold(mixed ^ value[2] ^ 0x9e3779b97f4a7c15, secret ^ 0xd6e8feb86659fd93);
    mixed = (mixed ^ mixed >> 33) * 0xff51afd7ed558ccd;
    mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53;
    return mixed ^ mixed >> 33;
  }

 private:
  static constexpr std::uint64_t fold(std::uint64_t one, std::uint64_t other) noexcept {
    const unsigned __int128 product = static_cast<unsigned __int128>(one) * other;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
};

}  // namespace millrace
