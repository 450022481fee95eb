// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/mac.hpp"
#include "shared/layout/neighbour_entry.hpp"

/// The table of neighbours of a router whose workers are processes that share a segment: ARP
/// (RFC 826), neighbour discovery and unreachability detection (RFC 4861 section 7).
///
/// Every operation may be called by any thread of any process at any time. It takes a bounded
/// number of steps, and neither locks, waits nor allocates. A process may be killed between any two
/// stores of it. A table all zero is an empty one. `now_ms`: a monotonic clock that all processes
/// share, from 1, below 2^40.
///
/// **Which MAC belongs to which address.** An entry is given to another key when the table is full.
/// So a NeighbourHandle carries the generation for which the entry was found. Each answer comes of
/// one load of the link and, behind it, one of the entry's word, which must be of that generation
/// still: then the MAC is one of the handle's key, whatever happened in between.
///
/// **Duplicates.** Two processes that insert one key at once may make two entries. All find the
/// first in probe order. Each inserter looks again when it has published, and retires what comes
/// behind the first, after it has handed on its pin. What such an entry had learnt is asked for
/// again, and handles to it are void. A duplicate whose inserter was killed is never found, so
/// it becomes the least recently used of its window; its pin does not hold it.

namespace millrace {

inline constexpr std::uint32_t kNeighbourWindow = 8;  ///< entries in which a key may lie
inline constexpr std::uint32_t kNoNeighbour = UINT32_MAX;

/// `entry_count`: a power of two, kNeighbourCountMin..kNeighbourCountMax.
constexpr std::size_t neighbour_table_bytes(std::uint32_t entry_count) noexcept {
  return sizeof(NeighbourHeader) + std::size_t{entry_count} * sizeof(NeighbourEntry);
}

/// When neighbours are asked for. RFC 4861 section 10 names the defaults.
struct NeighbourTimes {
  std::uint64_t reachable_ms = 30'000;   ///< a proof of reachability holds so long
  std::uint64_t retry_ms = 1'000;        ///< between two solicitations
  std::uint8_t asks_max = 3;             ///< solicitations without an answer; from 1
  std::uint64_t failed_hold_ms = 3'000;  ///< from retry_ms after the last one: nothing is asked
};
inline constexpr NeighbourTimes kNeighbourTimes;

/// `now_ms` of the topology's table, in all its processes. `now_ns`: since the topology started.
constexpr std::uint64_t neighbour_ms(std::uint64_t now_ns) noexcept {
  return now_ns / 1'000'000 + 1;
}

/// An entry as it was found: a number, and the generation for which it is valid. A value of 8 bytes
/// that may be kept for minutes. It becomes void when the entry is evicted, forgotten or retired.
struct NeighbourHandle {
  std::uint32_t number = kNoNeighbour;  ///< kNoNeighbour: none
  std::uint32_t generation = 0;
  constexpr bool found() const noexcept { return number != kNoNeighbour; }
  friend constexpr bool operator==(NeighbourHandle, NeighbourHandle) = default;
};
static_assert(sizeof(NeighbourHandle) == 8);

/// What the caller sends before it goes on. At most one caller in `retry_ms` is told to.
enum class NeighbourAsk : std::uint8_t {
  kNo = 0,
  kUnicast = 1,    ///< to the answer's MAC
  kMulticast = 2,  ///< ARP: to all; IPv6: to the solicited-node group
};

struct NeighbourAnswer {
  /// kNone: the handle is void; insert again. Else kIncomplete, kKnown, kFailed or kStatic.
  NeighbourState state = NeighbourState::kNone;
  NeighbourAsk ask = NeighbourAsk::kNo;
  MacAddress mac{};  ///< of kKnown and kStatic

  constexpr bool has_mac() const noexcept {
    return state == NeighbourState::kKnown || state == NeighbourState::kStatic;
  }
  constexpr bool should_ask() const noexcept { return ask != NeighbourAsk::kNo; }
};

/// A neighbour that one caller keeps, so that a packet to it costs two loads: private memory.
struct NeighbourHint {
  NeighbourHandle handle;
  std::uint64_t link = 0;      ///< word of the entry that `mac` comes from
  std::uint64_t until_ms = 0;  ///< then it is looked at again
  MacAddress mac{};
};

/// What a packet of a neighbour says beside its MAC.
///
/// | packet                                     | only_update | overrides | confirms  |
/// |--------------------------------------------|-------------|-----------|-----------|
/// | ARP request to an address of ours          | false       | true      | false     |
/// | ARP reply to us                            | true        | true      | true      |
/// | any other ARP packet (RFC 826 merge)       | true        | true      | false     |
/// | neighbour solicitation (RFC 4861, 7.2.3)   | false       | true      | false     |
/// | neighbour advertisement (7.2.5)            | true        | its O bit | its S bit |
struct NeighbourNews {
  bool only_update = true;  ///< true: a key that the table does not have is not inserted
  bool overrides = false;   ///< false: another MAC makes a known one stale and is else ignored
  bool confirms = false;    ///< it answers a solicitation of ours: proof of reachability
};

/// One entry for people, as it was at one moment.
struct NeighbourSnapshot {
  NeighbourKey key;
  NeighbourState state = NeighbourState::kNone;
  bool pinned = false;
  MacAddress mac{};                ///< of kKnown and kStatic
  std::uint64_t confirmed_ms = 0;  ///< last proof of reachability; 0: none
  std::uint64_t used_ms = 0;       ///< to about kNeighbourUsedGrainMs
  std::uint64_t asked_ms = 0;      ///< last solicitation; 0: none
  std::uint32_t asks = 0;          ///< solicitations since the last proof without an answer
};

/// `used_ms` is written when it would move so far: not with every packet, as the line is shared.
inline constexpr std::uint64_t kNeighbourUsedGrainMs = 100;

/// A view of a table; a cheap value. It keeps a pointer into its own mapping.
class NeighbourTableView {
 public:
  /// `memory`: 64-byte aligned, of neighbour_table_bytes(entry_count) bytes (CHECKed), zeroed by
  /// its creator. `times`: the same in all processes.
  explicit NeighbourTableView(std::span<std::byte> memory,
                              const NeighbourTimes& times = kNeighbourTimes) noexcept;

  /// By the creator, before anything is inserted. `secret`: random; the first one stays. A table
  /// without one works, and lets senders choose what meets in a window.
  void init(std::uint64_t secret) const noexcept;

  std::uint32_t entry_count() const noexcept { return mask_ + 1; }
  std::uint64_t full_count() const noexcept;     ///< inserts that found no place
  std::uint64_t evicted_count() const noexcept;  ///< entries that gave way to another key

  /// Reads one line of entries in the usual case, kNeighbourWindow at most.
  NeighbourHandle find(const NeighbourKey& key) const noexcept;

  /// `pinned`: not evicted from now on (gateways of routes); false leaves a pin as it is. A new
  /// entry takes an empty one's place or one of a dead claim; else it evicts, in this order: failed
  /// and never asked, incomplete, known, and of these the least recently used. Never one that is
  /// pinned, static, or was claimed within the last second. Without a victim: none, and `full`
  /// counts it.
  NeighbourHandle find_or_insert(const NeighbourKey& key, std::uint64_t now_ms,
                                 bool pinned) const noexcept;

  /// For routes that come and go. False: the handle is void.
  bool set_pinned(NeighbourHandle handle, bool pinned) const noexcept;

  /// For a packet to the neighbour: may it go, and is there something to send before?
  /// - static, or known and confirmed within `reachable_ms`: goes to `mac`
  /// - known but stale: goes to `mac`; one caller in `retry_ms` asks by unicast. After `asks_max`
  ///   without an answer the MAC is given up, and the entry is as if never known
  /// - incomplete: held by the caller; one caller in `retry_ms` asks by multicast, the first use at
  ///   once. After `asks_max`: failed
  /// - failed: dropped by the caller. The first use after `failed_hold_ms` starts again
  /// A caller that holds packets calls this again every `retry_ms` or so: the table has no timer,
  /// so without a use nothing is asked again, and nothing fails.
  NeighbourAnswer look_up(NeighbourHandle handle, std::uint64_t now_ms) const noexcept;

  /// Fills `hint` when packets go to the neighbour's MAC and nothing is to be asked: static, or
  /// known and confirmed within `reachable_ms`. False: look_up() has to decide. A use of the entry.
  bool keep(NeighbourHandle handle, std::uint64_t now_ms, NeighbourHint& hint) const noexcept;
  /// The hint says what look_up() would say, but that a question may be due for up to
  /// kNeighbourUsedGrainMs.
  bool is_fresh(const NeighbourHint& hint, std::uint64_t now_ms) const noexcept;

  /// Returns whether `mac` is now the MAC of the key. A known neighbour's other MAC that may not
  /// override, a static entry, a table without place and a MAC that is no station's (group bit, or
  /// all zero) are not learnt. Learning is no use of the entry.
  bool learn(const NeighbourKey& key, const MacAddress& mac, std::uint64_t now_ms,
             NeighbourNews news) const noexcept;

  /// Pins the entry too. False: no place.
  bool set_static(const NeighbourKey& key, const MacAddress& mac,
                  std::uint64_t now_ms) const noexcept;

  /// The entry is static and of another MAC: a sender of `mac` contradicts what is configured.
  bool contradicts(const NeighbourKey& key, const MacAddress& mac) const noexcept;

  /// Static and pinned ones too. False: there was none.
  bool forget(const NeighbourKey& key) const noexcept;
  /// Only when it is static: the next packet to it asks. False: it is not.
  bool forget_static(const NeighbourKey& key) const noexcept;

  /// What an egress that holds packets polls. False for a void handle.
  bool is_ready(NeighbourHandle handle) const noexcept;
  /// True for a void handle too: nothing will ever make it ready.
  bool has_failed(NeighbourHandle handle) const noexcept;

  /// `visit(const NeighbourSnapshot&)` for each entry that find() finds, in no order. What changes
  /// meanwhile may be left out.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::uint32_t number = 0; number < entry_count(); ++number) {
      NeighbourSnapshot snapshot;
      if (read(number, snapshot)) visit(static_cast<const NeighbourSnapshot&>(snapshot));
    }
  }

 private:
  struct Place {
    std::uint32_t number = kNoNeighbour;
    NeighbourWord seen;  ///< the claim succeeds only if this still stands there
  };

  NeighbourEntry& entry(std::uint32_t number) const noexcept;
  std::uint32_t home_of(const NeighbourKeyWords& key) const noexcept;
  bool is_current(NeighbourHandle handle) const noexcept;
  bool holds(std::uint32_t number, NeighbourWord word, const NeighbourKeyWords& key) const noexcept;
  NeighbourHandle find_words(const NeighbourKeyWords& key) const noexcept;
  bool is_shadowed(std::uint32_t number, NeighbourWord word) const noexcept;
  std::uint32_t rank_of(std::uint32_t number, NeighbourWord word) const noexcept;
  Place choose_place(std::uint32_t home, std::uint64_t now_ms) const noexcept;
  NeighbourHandle claim(Place place, const NeighbourKeyWords& key, std::uint64_t now_ms,
                        bool pinned) const noexcept;
  NeighbourHandle settle(const NeighbourKeyWords& key) const noexcept;

  NeighbourAnswer answer_known(NeighbourHandle handle, std::uint64_t link,
                               std::uint64_t now_ms) const noexcept;
  NeighbourAnswer answer_unknown(NeighbourHandle handle, std::uint64_t link,
                                 std::uint64_t now_ms) const noexcept;
  void confirm(NeighbourHandle handle, std::uint64_t link, std::uint64_t now_ms) const noexcept;
  bool read(std::uint32_t number, NeighbourSnapshot& snapshot) const noexcept;

  NeighbourHeader* header_;
  std::uint32_t mask_;
  NeighbourTimes times_;
};

}  // namespace millrace
