// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "shared/base/check.hpp"
#include "shared/base/limits.hpp"

/// The flows of one lane, in the lane's state: found by the tuple of either direction, ended by
/// time. What a batch has changed of it is taken back when its worker dies (LaneUndoLog); so it is
/// never found half written.
///
/// Memory, zero at the start: a head of one line; a wheel of kWheelSlots times; buckets of 16
/// references of 4 bytes, one line each; entries of three lines. A reference stands in one of two
/// buckets that the hash of its tuple names (Azar et al., Balanced Allocations, 1994), so a look-up
/// reads two lines at most beside the entry's. Of 1,000,000 flows: 209 MB.

namespace millrace {

/// A cheap view. One thread, which changes the lane's state at that moment.
class FlowTable {
 public:
  static constexpr std::uint32_t kNumberBits = 24, kNumberMask = (1u << kNumberBits) - 1;
  static constexpr std::uint32_t kFlowsMax = kNumberMask;
  static constexpr std::uint32_t kWheelSlots = 1024;  ///< of one second
  /// Lines of the state that one call changes at most: insert() with a flow that it gives up.
  static constexpr std::uint32_t kLinesChangedMax = 40;
  /// The same of a look of expire().
  static constexpr std::uint32_t kLinesOfLook = 16;

  /// Of the state of a lane, for 1..kFlowsMax flows.
  static std::uint64_t bytes_for(std::uint32_t flows) noexcept;
  /// `state`: of bytes_for(flows). `secret`: for a table that has none yet, and keeps it; the less
  /// others know of it, the less they can make flows share buckets.
  FlowTable(const LaneState& state, std::uint32_t flows,
            const std::array<std::uint64_t, 2>& secret) noexcept;

  /// One that is read while its worker changes it, by entry() and is_referenced() alone; what they
  /// say may be wrong by the time that it is looked at. Nothing: no packet has been there yet, or
  /// `state` is too short.
  static std::optional<FlowTable> of_reader(std::span<std::byte> state,
                                            std::uint32_t flows) noexcept;

  struct Found {
    std::uint32_t flow;      ///< its number: 0..flows - 1
    std::uint8_t direction;  ///< 0: that of the flow's first packet
  };
  /// One of these, or none, in four bytes.
  class MaybeFound {
   public:
    MaybeFound() = default;
    explicit MaybeFound(Found found) noexcept
        : word_((found.flow + 1) | std::uint32_t{found.direction} << kNumberBits) {}
    explicit operator bool() const noexcept { return word_ != 0; }
    Found operator*() const noexcept {
      return {(word_ & kNumberMask) - 1, static_cast<std::uint8_t>(word_ >> kNumberBits)};
    }

   private:
    friend class FlowTable;
    explicit MaybeFound(std::uint32_t reference) noexcept
        : word_(reference & ((2u << kNumberBits) - 1)) {}

    std::uint32_t word_ = 0;  ///< number + 1, and the direction above it; 0: none
  };
  std::optional<Found> find(const FlowTuple& tuple) const noexcept;
  static constexpr std::size_t kManyMax = 64;
  /// The same for 0..kManyMax tuples at once; `found` has as many. Lines of all of them are under
  /// way together, so it is several times as fast where the table does not fit the cache; so are
  /// those that a packet of the flow changes.
  void find(std::span<const FlowTuple> tuples, std::span<MaybeFound> found) const noexcept;
  const FlowEntry& entry(std::uint32_t flow) const noexcept { return at(flow); }
  /// find() of that tuple leads to the flow, in direction 0. Looks at no other flow.
  bool is_referenced(const FlowTuple& tuple, std::uint32_t flow) const noexcept;
  /// What functions keep with it, to be written. Costs one line of the undo log.
  FlowOwn& change_own(std::uint32_t flow) noexcept { return state_.change(at(flow).own); }
  /// Counts packets of one direction. Costs one line.
  void count(std::uint32_t flow, std::uint8_t direction, std::uint64_t packets,
             std::uint64_t bytes) noexcept;
  /// A packet of `bytes`: what functions keep from here on, its count, and the time at which the
  /// flow ends; 0: as it is. Costs two lines; a third in direction 1 where the time is another; and
  /// five where it is sooner than the wheel would come to it.
  void follow(std::uint32_t flow, std::uint8_t direction, const FlowOwn& own, std::uint64_t bytes,
              std::uint32_t deadline_s) noexcept {
    FlowEntry& entry = at(flow);
    change_of_packet(entry, direction);
    entry.own = own;
    count_one(entry, direction, bytes, deadline_s);
  }
  /// The same where functions keep what they have kept, but for how long the flow has lasted.
  void follow(std::uint32_t flow, std::uint8_t direction, std::uint32_t duration_ms,
              std::uint64_t bytes, std::uint32_t deadline_s) noexcept {
    FlowEntry& entry = at(flow);
    change_of_packet(entry, direction);
    entry.own.duration_ms = duration_ms;
    count_one(entry, direction, bytes, deadline_s);
  }

  enum class Inserted : std::uint8_t { kNew, kThere, kFull };
  struct Insertion {
    Inserted what = Inserted::kFull;
    std::uint32_t flow = 0;                 ///< kNew, kThere
    std::optional<std::uint32_t> given_up;  ///< number of the flow that had to go for it
  };
  /// A flow that is not established. `answer`: reversed(tuple), or what a translation makes of it.
  /// kThere: one of the tuples is another flow's, and nothing is changed. Of a full table the
  /// oldest flow that is not established is given up; kFull: there is none.
  Insertion insert(const FlowTuple& tuple, const FlowTuple& answer,
                   std::uint32_t deadline_s) noexcept {
    return insert(tuple, answer, deadline_s, [](std::uint32_t) {});
  }
  /// `gives_up` is called with the number of the flow that has to go, before it goes.
  template <typename GivesUp>
  Insertion insert(const FlowTuple& tuple, const FlowTuple& answer, std::uint32_t deadline_s,
                   const GivesUp& gives_up) noexcept {
    const Room room = room_for(tuple, answer);
    if (room.there) return {Inserted::kThere, *room.there, std::nullopt};
    if (room.oldest) {
      gives_up(*room.oldest);
      remove(*room.oldest, room.of_oldest);
    }
    Insertion done = put(tuple, answer, deadline_s, room.places);
    done.given_up = room.oldest;
    return done;
  }
  void establish(std::uint32_t flow) noexcept;
  /// The other way: of those that are not established it goes first.
  void make_oldest(std::uint32_t flow) noexcept;
  /// It ends at another time, sooner or later. Costs one line; five more where it is sooner than
  /// the wheel would come to it.
  void set_deadline(std::uint32_t flow, std::uint32_t deadline_s) noexcept;
  void remove(std::uint32_t flow) noexcept;

  /// Ends flows that are due, `most` looks at the most; `ended` is called with the number of
  /// each before it goes. Returns how many there were. `now_s` does not go back.
  template <typename Ended>
  std::uint32_t expire(std::uint32_t now_s, std::uint32_t most, const Ended& ended) noexcept {
    std::uint32_t count = 0;
    for (; most != 0; --most) {
      const std::optional<std::uint32_t> flow = next_due(now_s);
      if (!flow) break;
      if (entry(*flow).deadline_s > now_s) {
        relink(*flow);
        continue;
      }
      ended(*flow);
      remove(*flow);
      ++count;
    }
    return count;
  }
  std::uint32_t count() const noexcept;  ///< flows in it
  std::uint32_t size() const noexcept { return flows_; }

 private:
  struct Head;
  /// Where a tuple's reference stands, and what it looks like without its number.
  struct Place {
    std::uint32_t* bucket[2];
    std::uint32_t tag;
  };

  Head& head() const noexcept;
  Head& change_head() noexcept;
  FlowEntry& at(std::uint32_t flow) const noexcept {
    MILLRACE_CHECK(flow < flows_);
    return entries_[flow];
  }
  FlowEntry& change(std::uint32_t flow) noexcept { return state_.change(at(flow)); }
  static FlowTraffic& traffic_of(FlowEntry& entry, std::uint8_t direction) noexcept {
    return direction == 0 ? entry.sent : entry.answered;
  }
  /// What functions keep, and the count.
  void change_of_packet(FlowEntry& entry, std::uint8_t direction) noexcept {
    state_.undo.keep_lines_of(state_.offset_of(&entry.own),
                              state_.offset_of(&traffic_of(entry, direction)));
  }
  void count_one(FlowEntry& entry, std::uint8_t direction, std::uint64_t bytes,
                 std::uint32_t deadline_s) noexcept {
    static_assert(offsetof(FlowEntry, deadline_s) < kCacheLine);
    traffic_of(entry, direction).add(bytes);
    if (deadline_s == 0 || deadline_s == entry.deadline_s) return;
    if (direction != 0) state_.change_line(entry.deadline_s);
    entry.deadline_s = deadline_s;
    if (deadline_s < time_of_slot(entry)) [[unlikely]]
      relink(number_of(entry));
  }
  /// When the wheel comes to it.
  std::uint32_t time_of_slot(const FlowEntry& entry) const noexcept {
    return at_s_ + ((entry.slot - at_s_) & (kWheelSlots - 1));
  }
  std::uint32_t number_of(const FlowEntry& entry) const noexcept {
    return static_cast<std::uint32_t>(&entry - entries_);
  }
  std::uint32_t* wheel() const noexcept;
  void set(std::uint32_t* word, std::uint32_t value) noexcept;
  std::array<std::uint64_t, 2> secret() const noexcept;
  Place place_of(const FlowTuple& tuple) const noexcept;
  struct Buckets;
  Buckets buckets() const noexcept;
  void prefetch(std::uint32_t flow) const noexcept;
  static std::uint32_t with_tag(const Place& place) noexcept;
  template <typename Wanted>
  static std::uint32_t* first_of(const Place& place, const Wanted& wanted) noexcept;
  bool is(std::uint32_t reference, const FlowTuple& tuple) const noexcept;
  std::optional<Found> look(const Place& place, const FlowTuple& tuple) const noexcept;
  std::uint32_t* free_reference(const Place& place) const noexcept;
  void drop_reference(const Place& place, std::uint32_t flow, std::uint8_t direction) noexcept;
  using Places = std::array<Place, 2>;  ///< of both directions
  /// For a new flow.
  struct Room {
    Places places;
    std::optional<std::uint32_t> there;   ///< a flow that has one of the tuples
    std::optional<std::uint32_t> oldest;  ///< the table is full: this one goes
    Places of_oldest;
  };
  Room room_for(const FlowTuple& tuple, const FlowTuple& answer) const noexcept;
  Insertion put(const FlowTuple& tuple, const FlowTuple& answer, std::uint32_t deadline_s,
                const Places& places) noexcept;
  void prefetch_references(const Places& places) const noexcept;
  Places prefetch_removal(std::uint32_t flow) const noexcept;
  void remove(std::uint32_t flow, const Places& places) noexcept;
  std::optional<std::uint32_t> take_number() noexcept;
  void link(std::uint32_t flow) noexcept;
  void unlink(std::uint32_t flow) noexcept;
  void relink(std::uint32_t flow) noexcept;
  void make_youngest(std::uint32_t flow) noexcept;
  void leave_ages(std::uint32_t flow) noexcept;
  std::optional<std::uint32_t> next_due(std::uint32_t now_s) noexcept;

  LaneState state_;
  std::uint32_t flows_, bucket_count_;
  std::uint32_t at_s_ = 0;  ///< that of the head
  FlowEntry* entries_;
};

}  // namespace millrace
