// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/protocols/app_session.hpp"

namespace millrace {

/// What a worker knows of a flow beyond what the lane's state says. It can be made anew from that.
struct CachedFlow {
  FlowTuple tuple;       ///< of the flow's direction 0
  std::uint64_t id = 0;  ///< FlowRecord::id that it was made for; 0: none
  // By direction: places in its streams.
  std::array<std::uint32_t, 2> start{};               ///< sequence number of the first byte
  std::array<std::uint64_t, 2> position{};            ///< up to which it has read
  std::array<std::uint64_t, 2> base{};                ///< where `session` begins
  std::array<std::optional<std::uint32_t>, 2> fin{};  ///< sequence number of a FIN
  std::array<PendingRules, 2> pending;
  std::array<FlowRules, 2> rules;
  std::optional<AppSession> session;  ///< nothing: no parser reads on
  std::size_t held = 0;               ///< bytes of memory, as FlowCache::weigh() has found
  bool has_made_room = false;         ///< what it knew is gone: its memory was taken
};

/// A bounded number of them, with a bounded memory; the one that was asked for longest ago makes
/// room. One thread.
class FlowCache {
 public:
  /// Allocates for `flows`, 1 or more; a flow's own parts are allocated when it comes. `bytes_max`:
  /// of these parts, all flows together, behind weigh(); beside them each place keeps 1 KiB. Throws
  /// where there is no source of random numbers.
  FlowCache(std::uint32_t flows, std::size_t bytes_max);

  /// Null: it is not there. Good until the next begin() or forget().
  CachedFlow* find(const FlowTuple& tuple) noexcept;
  /// As it was made first; of a flow that is there too.
  CachedFlow& begin(const FlowTuple& tuple) noexcept;
  /// Nothing if it is not there.
  void forget(const FlowTuple& tuple) noexcept;
  /// Behind changes of a flow, the one that was asked for last. Where it has more than a sixteenth
  /// of `bytes_max` (of less than 8 MiB: more than 512 KiB, or all), it loses what it knows. Where
  /// all have more than `bytes_max`, others do, and it too if that does not suffice. These stay as
  /// has_made_room.
  void weigh(CachedFlow& flow) noexcept;
  std::size_t held() const noexcept { return held_; }  ///< bytes, as weighed
  /// Flows that have made room in weigh(), and those that have in begin(): they are not there.
  std::uint64_t emptied() const noexcept { return emptied_; }
  std::uint64_t replaced() const noexcept { return replaced_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Place {
    CachedFlow flow;
    bool is_used = false;
    std::uint32_t next_of_bucket = kNone;
    std::uint32_t younger = kNone, older = kNone;  ///< free ones hang behind the oldest
  };

  void empty(CachedFlow& flow) noexcept;
  void take_room_of(CachedFlow& flow) noexcept;

  std::uint32_t& bucket_of(const FlowTuple& tuple) noexcept;
  std::uint32_t place_of(const FlowTuple& tuple) noexcept;
  bool is_youngest(const FlowTuple& tuple) const noexcept;
  void leave_bucket(std::uint32_t place) noexcept;
  void leave_order(std::uint32_t place) noexcept;
  void put_youngest(std::uint32_t place) noexcept;
  void put_oldest(std::uint32_t place) noexcept;

  std::array<std::uint64_t, 2> secret_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> buckets_;
  std::uint32_t youngest_ = kNone, oldest_ = kNone;
  std::uint32_t oldest_full_ = kNone;  ///< older ones have made room, or are free
  std::size_t bytes_max_, held_ = 0;
  std::uint64_t emptied_ = 0, replaced_ = 0;
};

}  // namespace millrace
