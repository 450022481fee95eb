// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "services/functions/firewall/source_network.hpp"
#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "shared/base/limits.hpp"

/// How many connections each source has at a time, in a lane's state: so the counts outlive workers
/// and reloads, and a worker that dies takes back what its batch has changed.
///
/// A group (AclRule::connection_group) is what counts together: a rule, most often. Of an odd group
/// each source has a count, the address that began the connection; of an even one all have one
/// together. A group has a slot of the lane as long as one of its connections is there; there are
/// more slots than groups at a time, for those of rules that a reload has taken away.
///
/// Memory, zero at the start: a head of three lines; buckets of two lines, six counts each, half of
/// them free when `sources` are in use. A count stands in one of two buckets that its hash names.

namespace millrace {

/// A cheap view. One thread, which changes the lane's state at that moment.
class ConnectionCounts {
 public:
  static constexpr std::uint32_t kSlots = 15;
  static constexpr std::uint32_t kGroupsMax = 8;  ///< of the rules that are in use
  static constexpr std::uint32_t kSourcesMax = 10'000'000;
  /// Lines of the state that one call changes at most.
  static constexpr std::uint32_t kLinesOfAdd = 4, kLinesOfRemove = 2;

  /// Of the state of a lane, for 1..kSourcesMax counts.
  static std::uint64_t bytes_for(std::uint32_t sources) noexcept;
  /// Lays the state out where nothing has so far. `secret`: for the hashes of one that has none
  /// yet; not all zero. Nothing: the state is too short. Takes one line of the undo log.
  static std::optional<ConnectionCounts> of_lane(
      const LaneState& state, std::uint32_t sources,
      const std::array<std::uint64_t, 2>& secret) noexcept;
  /// Nothing: nothing has laid it out.
  static std::optional<ConnectionCounts> laid_out(const LaneState& state) noexcept;

  /// Connections of the source of `tuple` (of a flow's direction 0) that are counted. Nothing: its
  /// source is not counted so far, and there is no room for it.
  /// `network`: what of an odd group's addresses is one source.
  std::optional<std::uint32_t> count(std::uint32_t group, const FlowTuple& tuple,
                                     const SourceNetwork& network = {}) const noexcept;
  /// Nothing: the group counts no connection.
  std::optional<std::uint8_t> slot_of(std::uint32_t group) const noexcept;
  /// One more. Returns the slot, which the connection keeps; nothing: there is no room.
  std::optional<std::uint8_t> add(std::uint32_t group, const FlowTuple& tuple,
                                  const SourceNetwork& network = {}) const noexcept;
  /// It ends: `slot` is what add() has said.
  void remove(std::uint8_t slot, const FlowTuple& tuple) const noexcept;

 private:
  struct Head;
  struct Entry;
  /// Where a count stands, or could.
  struct Place {
    Entry* entry = nullptr;
    Entry* free = nullptr;
  };

  explicit ConnectionCounts(const LaneState& state) noexcept : state_(state) {}
  Head& head() const noexcept;
  Head& change_counts() const noexcept;
  std::optional<std::uint8_t> slot_for(std::uint32_t group) const noexcept;
  static Entry entry_for(std::uint8_t slot, std::uint32_t group, const SourceNetwork& network,
                         const FlowTuple& tuple) noexcept;
  Place look(const Entry& wanted) const noexcept;

  LaneState state_;
};

}  // namespace millrace
