// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/layout/mapping.hpp"

/// A watch file: says what a watcher wants to see of a running topology, and has rings into which
/// the actors copy it. It is the watcher's own memory (mode 0600, of the topology's user), so a
/// watcher maps no packet memory and no actor waits for a watcher: packets that do not fit into a
/// ring are missed, and counted.
///
///     WatchHeader | filter: uint64[filter_count] | TraceMark[slot_count] | WatchRing[ring_count]
///     | bytes[ring_count]
///
/// The watcher holds a lock on the file while it lives (flock(2), which ends with its process, even
/// after a kill). Actors drop a watch whose file is not locked.

namespace millrace {

inline constexpr std::uint64_t kWatchMagic = 0x325443544157524dull;  ///< "MRWATCT2"
inline constexpr std::uint32_t kWatchCountMax = 4;   ///< watchers of one topology at a time
inline constexpr std::uint32_t kWatchPointMax = 64;  ///< places that one of them looks at
inline constexpr std::uint32_t kWatchLinkMax = kActorCountMax * kActorCountMax;
inline constexpr std::uint8_t kNoPoint = 255;
inline constexpr std::uint8_t kStepPoint = 254;  ///< a TraceStep follows instead of a packet
inline constexpr std::uint8_t kNoRing = 255;

/// The head of a record in a ring. Its bytes follow it; the next record starts behind them, at a
/// multiple of 8.
struct WatchRecord {
  std::uint32_t record_bytes;  ///< with what follows; a multiple of 8
  std::uint8_t point;          ///< of the watcher's list; kNoPoint: only fills up the ring's end
  std::uint8_t verdict;        ///< Verdict
  std::uint8_t reason;         ///< Reason of a packet that does not go on
  std::uint8_t padding;
  std::uint32_t length;       ///< bytes of the packet that follow
  std::uint32_t wire_length;  ///< on the wire
  std::uint64_t time_tsc;
};
static_assert(sizeof(WatchRecord) == 24);

struct WatchHeader {
  std::atomic<std::uint64_t> magic;  ///< written last: the file is complete
  std::uint32_t actor_count;         ///< of the plan
  std::uint32_t filter_count;        ///< instructions (packet_filter.hpp); 0: every packet
  std::uint64_t ring_bytes;          ///< of each ring, a power of two
  std::uint32_t snap_length;         ///< bytes of a packet that are copied at most
  std::uint32_t ring_count;
  std::uint8_t ring_of[kActorCountMax];  ///< number of the actor's ring; kNoRing: has none
  // Numbers of points; kNoPoint: none looks there.
  std::uint8_t port_in[kPortCountMax];
  std::uint8_t port_out[kPortCountMax];
  std::uint8_t dropped;  ///< packets that end as dropped, seen by the egress
  std::uint8_t padding[3];
  std::uint32_t trace_count;  ///< packets that each ingress follows at most; 0: none
  std::uint32_t slot_count;   ///< of the plan when something is followed, else 0
  /// 1: packets may be chosen, as all actors that get them show their steps. Set by the watcher.
  std::atomic<std::uint32_t> following;
  std::uint8_t link[kWatchLinkMax];
};
static_assert(sizeof(WatchHeader) == 80 + kActorCountMax + kWatchLinkMax);

/// Which packets of a slot are followed. Written by its ingress before the batch leaves; valid
/// while the slot has that generation.
inline constexpr std::uint32_t kTracedMax = 8;  ///< packets of one batch
struct TraceMark {
  std::uint64_t generation;
  std::uint32_t first_id;  ///< of the first; the others count on
  std::uint32_t count;
  std::uint16_t packet[kTracedMax];  ///< indexes in the batch
};
static_assert(sizeof(TraceMark) == 32);

enum class TraceKind : std::uint8_t {
  kReceived = 0,  ///< by a port (`number`), from arrival until its batch was sealed
  kSent = 1,      ///< pushed into a link
  kTaken = 2,     ///< taken from a link
  kFunction = 3,  ///< a function has worked on the batch; `result` is its word
  kDevice = 4,    ///< a GPU worker had the batch, from submission until completion
  kReleased = 5,  ///< transmitted on a port, dropped or consumed, and accounted for
};

/// What happened to one followed packet at one place.
struct TraceStep {
  std::uint32_t id;         ///< of the packet
  std::uint32_t number;     ///< port, link or function; kNoNumber: none
  std::uint64_t since_tsc;  ///< when it began; it ended at time_tsc of the record
  std::uint64_t sequence;   ///< of the batch, in its stream and lane
  std::uint32_t result;     ///< of a function
  std::uint32_t classes;    ///< of the packet by then
  std::uint16_t actor;
  std::uint16_t stream, lane;
  std::uint16_t packet;  ///< index in the batch
  TraceKind kind;
  std::uint8_t took_part;   ///< function: 0: it did not look at this packet
  std::uint8_t port_after;  ///< 1 + the packet's output by then; 0: the default of its path
  std::uint8_t padding[5];
};
static_assert(sizeof(TraceStep) == 48);
inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

/// Indexes of one actor's ring. Both only grow; their difference is what waits to be read.
struct alignas(kCacheLine) WatchRing {
  std::atomic<std::uint64_t> tail;  ///< actor's: behind the newest record
  /// The actor's incarnation, once its data thread writes here. Set by its control thread.
  std::atomic<std::uint32_t> attached;
  std::uint32_t padding_0;
  std::atomic<std::uint64_t> missed[kWatchPointMax];    ///< actor's: found no room, by point
  alignas(kCacheLine) std::atomic<std::uint64_t> head;  ///< watcher's: behind the last one read
  std::uint64_t padding_1[7];
};
static_assert(sizeof(WatchRing) == 640 && offsetof(WatchRing, head) == 576);

/// What a watcher wants to see.
struct WatchWish {
  std::vector<std::uint64_t> filter;                          ///< sound; empty: every packet
  std::vector<bool> actors;                                   ///< by actor of the plan: has a ring
  std::array<std::uint8_t, kPortCountMax> port_in, port_out;  ///< number of the point, or kNoPoint
  std::array<std::uint8_t, kWatchLinkMax> link;
  std::uint8_t dropped = kNoPoint;
  std::uint32_t trace_count = 0;  ///< packets to follow, of each ingress
  std::uint32_t slot_count = 0;   ///< of the plan; needed to follow packets
  std::uint32_t snap_length = UINT32_MAX;
  std::uint64_t ring_bytes = std::uint64_t{4} << 20;  ///< a power of two from 64 KiB

  WatchWish() {
    port_in.fill(kNoPoint);
    port_out.fill(kNoPoint);
    link.fill(kNoPoint);
  }
};

/// "/millrace-<topology>.watch.<number>", for shm_open.
std::string watch_name(const std::string& topology, std::uint32_t number);

/// Where the parts of a file begin, in bytes from its start.
struct WatchLayout {
  std::uint64_t filter = 0, marks = 0, rings = 0, ring_bytes_first = 0, bytes = 0;
};

/// The file, mapped by one side. Move-only; the watcher's destructor removes the file.
class WatchFile {
 public:
  /// For a watcher: makes the first file that is free, or whose watcher has died, gives it to the
  /// user `uid` and locks it. Throws Error, also when kWatchCountMax watchers are there already.
  static WatchFile create(const std::string& topology, const WatchWish& wish, unsigned uid);
  /// For an actor: nothing when there is no such file, when it is not complete, not only our
  /// user's, malformed, made for another number of actors, or when its watcher has died.
  static std::optional<WatchFile> attach(const std::string& topology, std::uint32_t number,
                                         std::uint32_t actor_count);
  WatchFile(WatchFile&& other) noexcept;
  WatchFile& operator=(WatchFile&&) = delete;  // what it would replace may still be written to
  ~WatchFile();

  /// For a watcher: packets may be chosen to be followed from now on.
  void begin_to_follow() noexcept;
  /// For an actor: false when the watcher has died. A system call.
  bool watched() const noexcept;
  const WatchHeader& header() const { return *reinterpret_cast<WatchHeader*>(mapping_.base()); }
  std::span<const std::uint64_t> filter() const;
  /// `number`: below header().ring_count.
  WatchRing& ring(std::uint32_t number) const;
  /// `slot`: below header().slot_count.
  TraceMark& mark(std::uint32_t slot) const;
  std::byte* ring_base(std::uint32_t number) const;

 private:
  WatchFile(UniqueFd file, Mapping mapping, const WatchLayout& at, std::string owned_name)
      : file_(std::move(file)),
        mapping_(std::move(mapping)),
        at_(at),
        owned_name_(std::move(owned_name)) {}
  UniqueFd file_;
  Mapping mapping_;
  WatchLayout at_;
  std::string owned_name_;  ///< watcher's; empty: an actor's
};

/// Removes the files of a topology whose watchers have died; `all`: also those of living ones,
/// which then see nothing more.
void remove_watches(const std::string& topology, bool all) noexcept;

}  // namespace millrace
