// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/function.hpp"
#include "shared/base/limits.hpp"

/// Connections that the firewall has begun for both hosts (`synproxy`), in a lane's state: what
/// both sides were told, for as long as their flow is there. A worker that dies takes back what its
/// batch has changed.
///
/// Memory, zero at the start: at the end of the state one line with the secrets; in front of it
/// buckets of four lines, one a connection, half of them free when `flows` are in use. A connection
/// stands in one of two buckets that its hash names.

namespace millrace {

/// One connection, a line. Client: the side that began it, direction 0.
struct ProxiedFlow {
  FlowTuple tuple;          ///< of direction 0; version 0: the place is free
  std::uint32_t cookie;     ///< the number of the SYN+ACK that the client has had
  std::uint32_t client;     ///< that of its SYN
  std::uint32_t shift;      ///< with `is_open`: what is added to the server's numbers
  std::uint32_t timestamp;  ///< to its timestamps; before: of the SYN+ACK that the client has had
  std::uint16_t mss;        ///< of the client
  std::uint16_t window;     ///< which the client announced last before `is_open`, not scaled
  // Shift of the window + 1; 0: no scaling.
  std::uint8_t client_scale;                     ///< as the client has said
  std::uint8_t told_scale;                       ///< as it was told of the server
  std::uint8_t server_scale;                     ///< as the server has said
  std::uint8_t is_open : 1;                      ///< the server has answered
  std::uint8_t may_sack : 1, has_timestamp : 1;  ///< what the client has been told
  std::uint8_t spare : 5;
};
static_assert(sizeof(ProxiedFlow) == kCacheLine && std::is_trivially_copyable_v<ProxiedFlow>);

/// A cheap view. One thread, which changes the lane's state at that moment.
class ProxiedFlows {
 public:
  static constexpr std::uint32_t kFlowsMax = 1u << 24;
  /// Lines of the state that one call changes at most.
  static constexpr std::uint32_t kLinesOfCall = 1;
  using Secret = std::array<std::uint64_t, 2>;

  /// For 1..kFlowsMax connections in a lane; whole lines.
  static std::uint64_t bytes_for(std::uint32_t flows) noexcept;
  /// Those at the end of `state`; lays them out where nothing has so far. `secret`: kept by one
  /// that has none yet, not all zero. Nothing: the state is too short. Takes a line of the log.
  static std::optional<ProxiedFlows> of_lane(const LaneState& state, std::uint32_t flows,
                                             const Secret& secret) noexcept;
  /// Nothing: nothing has laid them out.
  static std::optional<ProxiedFlows> laid_out(const LaneState& state) noexcept;

  /// For cookies of the lane: the same for each worker that has it.
  Secret cookie_secret() const noexcept;
  const ProxiedFlow* find(const FlowTuple& tuple) const noexcept;
  /// To be written; `flow`: of find().
  ProxiedFlow& change(const ProxiedFlow& flow) const noexcept;
  /// One more, or the one that is there. False: there is no room.
  bool put(const ProxiedFlow& flow) const noexcept;
  void remove(const FlowTuple& tuple) const noexcept;

 private:
  struct Foot;
  struct Bucket;

  explicit ProxiedFlows(const LaneState& state) noexcept : state_(state) {}
  Foot& foot() const noexcept;
  std::array<Bucket*, 2> buckets_of(const FlowTuple& tuple) const noexcept;

  LaneState state_;
};

}  // namespace millrace
