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
};

/// A bounded number of them; the one that was asked for longest ago makes room. One thread.
class FlowCache {
 public:
  /// Allocates for `flows`, 1 or more; a flow's own parts are allocated when it comes. Throws where
  /// there is no source of random numbers.
  explicit FlowCache(std::uint32_t flows);

  /// Null: it is not there. Good until the next begin() or forget().
  CachedFlow* find(const FlowTuple& tuple) noexcept;
  /// As it was made first; of a flow that is there too.
  CachedFlow& begin(const FlowTuple& tuple) noexcept;
  /// Nothing if it is not there.
  void forget(const FlowTuple& tuple) noexcept;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Place {
    CachedFlow flow;
    bool is_used = false;
    std::uint32_t next_of_bucket = kNone;
    std::uint32_t younger = kNone, older = kNone;  ///< free ones hang behind the oldest
  };

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
};

}  // namespace millrace
