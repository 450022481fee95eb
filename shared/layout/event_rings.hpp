// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/limits.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_record.hpp"

/// The rings of events, at the end of the status file, where the topology has a section `events`;
/// from a page's start, so that their reader maps the rest of the file read-only:
///
///     EventSink | EventRing[ring_count] | EventRecord[ring_count][kEventRingRecords]
///
/// Each actor that calls `finish` has a ring: one producer, its data thread; one consumer, the
/// process `events`. Neither side waits for the other. A line without room is lost and counted.
/// Every word has one writer and is changed by one store, so a killed side leaves nothing half
/// done: records behind `tail` do not exist yet, those in front of `head` have been dealt with.
///
/// A line is a record and the records of text behind it (event_text.hpp). It is written as a whole,
/// or lost as a whole.

namespace millrace {

inline constexpr std::uint32_t kEventRingRecords = 4096;  ///< of each actor; a power of two
inline constexpr std::uint32_t kNoEventRing = UINT32_MAX;
inline constexpr std::size_t kEventAlignment = 4096;  ///< a page

/// Indexes of one ring; they only grow, and record number n is at n modulo kEventRingRecords.
struct alignas(kCacheLine) EventRing {
  std::atomic<std::uint64_t> tail;   ///< producer's: behind the newest record
  std::atomic<std::uint64_t> lost;   ///< producer's: lines that found no room
  std::atomic<std::uint64_t> lines;  ///< producer's: in front of `tail`, since the ring began
  // What `tail` and `lines` are about to be: a successor finds out whether `lines` is.
  std::atomic<std::uint64_t> next_tail, next_lines;
  std::uint64_t padding_0[3];
  alignas(kCacheLine) std::atomic<std::uint64_t> head;  ///< consumer's: behind the last one told
  std::uint64_t padding_1[7];
};
static_assert(sizeof(EventRing) == 128 && offsetof(EventRing, tail) == 0);
static_assert(offsetof(EventRing, lost) == 8 && offsetof(EventRing, head) == 64);
static_assert(offsetof(EventRing, lines) == 16 && offsetof(EventRing, next_tail) == 24);
static_assert(offsetof(EventRing, next_lines) == 32);

/// Words of the process `events` alone, which survive it. With a file, for all rings together,
/// lines in front of `head` = file_written + file_lost + stream_written + stream_lost.
struct alignas(kCacheLine) EventSink {
  std::atomic<std::uint64_t> file_written;    ///< lines in the file
  std::atomic<std::uint64_t> file_lost;       ///< no file, or no room in it
  std::atomic<std::uint64_t> client_written;  ///< lines handed to clients, each of them counted
  std::atomic<std::uint64_t> client_lost;     ///< lines that a client did not take in time
  std::atomic<std::uint64_t> clients_cut;     ///< clients let go of as they took nothing
  std::atomic<std::uint64_t> clients;         ///< that are connected
  std::atomic<std::uint64_t> rotations;       ///< files that were begun while it ran
  std::atomic<std::uint64_t> ipfix_begun;     ///< records for a collector, before they are sent
  // What is being written: a successor finds out how much of it is in the file, so that nothing
  // is there twice. All of it is from before the write.
  std::atomic<std::uint64_t> intent_ring;  ///< number of the ring and one; 0: nothing. Last word
  std::uint64_t intent_file;               ///< inode
  std::uint64_t intent_offset;             ///< size of the file
  std::uint64_t intent_head, intent_written, intent_lost;
  // Of a collector of IPFIX: begun = sent + lost, but while records are on their way.
  std::atomic<std::uint64_t> ipfix_sent;  ///< records in messages that the kernel has taken
  std::atomic<std::uint64_t> ipfix_lost;  ///< records that could not be sent
  // Of the files of streams: lines of kStream, which are in no other file.
  std::atomic<std::uint64_t> stream_written;  ///< lines that are written as a whole
  std::atomic<std::uint64_t> stream_lost;     ///< lines of which bytes are missing in the files
  std::uint64_t intent_stream_written, intent_stream_lost;
  std::uint64_t padding[4];
};
static_assert(sizeof(EventSink) == 192 && offsetof(EventSink, file_lost) == 8);
static_assert(offsetof(EventSink, client_written) == 16 && offsetof(EventSink, clients) == 40);
static_assert(offsetof(EventSink, ipfix_begun) == 56 && offsetof(EventSink, ipfix_sent) == 112);
static_assert(offsetof(EventSink, ipfix_lost) == 120);
static_assert(offsetof(EventSink, stream_written) == 128);
static_assert(offsetof(EventSink, intent_stream_lost) == 152);
static_assert(offsetof(EventSink, intent_ring) == 64 && offsetof(EventSink, intent_lost) == 104);

/// The ring of `actor`; kNoEventRing when it calls no `finish`, or the topology has no `events`.
std::uint32_t event_ring_of(const Plan& plan, std::uint32_t actor);
/// The number of rings; 0 when the topology has no `events`.
std::uint32_t event_ring_count(const Plan& plan);
std::uint64_t event_rings_bytes(std::uint32_t ring_count);

/// A view of all rings. Borrowed from a mapping.
class EventRings {
 public:
  EventRings() = default;
  EventRings(std::byte* base, std::uint32_t count) : base_(base), count_(count) {}

  std::uint32_t count() const { return count_; }
  EventSink& sink() const { return *reinterpret_cast<EventSink*>(base_); }
  EventRing& ring(std::uint32_t number) const {
    return reinterpret_cast<EventRing*>(base_ + sizeof(EventSink))[number];
  }
  std::span<EventRecord> records(std::uint32_t number) const {
    auto* const first =
        reinterpret_cast<EventRecord*>(base_ + sizeof(EventSink) + count_ * sizeof(EventRing));
    return {first + std::size_t{number} * kEventRingRecords, kEventRingRecords};
  }

 private:
  std::byte* base_ = nullptr;
  std::uint32_t count_ = 0;
};

/// The producer's side of one ring. One thread; wait-free.
class EventLog {
 public:
  EventLog() = default;  ///< no process listens
  EventLog(const EventRings& rings, std::uint32_t number);

  bool on() const noexcept { return ring_ != nullptr; }
  /// Returns room for the record of one more line, not cleared, and writes `text` behind it (at
  /// most kEventTextBytesMax); the caller sets the payload's `texts` to texts_for(text). Null when
  /// there is no room for all of it: then one line is counted as lost. Readers see the line from
  /// the next publish() on.
  EventRecord* add(std::span<const std::byte> text = {}) noexcept;
  /// Publishes all lines added since the last call, at once.
  void publish() noexcept {
    if (added_ == published_ && lost_ == told_lost_) [[likely]]
      return;
    tell();
  }

 private:
  void tell() noexcept;
  void attach() noexcept;
  bool has_room(std::uint64_t records) noexcept;

  EventRing* ring_ = nullptr;
  std::span<EventRecord> records_;
  std::uint64_t added_ = 0,
                published_ = 0;  ///< behind the newest record, ours and all others' view
  std::uint64_t seen_head_ = 0;  ///< head, when it was looked at last
  std::uint64_t lost_ = 0, told_lost_ = 0;
  std::uint64_t lines_ = 0;  ///< in front of `added_`
  bool attached_ = false;    ///< the words above are the ring's
};

/// The consumer's side of one ring. One thread.
class EventReader {
 public:
  EventReader(const EventRings& rings, std::uint32_t number);

  /// Copies the next records, at most `out.size()`, kEventLineRecordsMax or more, so that no line
  /// is cut; returns how many. They stay in the ring. next_line() (event_text.hpp) tells lines
  /// apart. `skipped`: records that are gone, as the ring's words make no sense (a producer gone
  /// wrong).
  std::uint32_t peek(std::span<EventRecord> out, std::uint64_t& skipped) noexcept;
  std::uint64_t head() const noexcept;
  /// Frees the records before number `head`, which is at most the ring's tail.
  void let_go_until(std::uint64_t head) noexcept;

 private:
  EventRing* ring_;
  std::span<EventRecord> records_;
};

}  // namespace millrace
