// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"

namespace millrace {

/// What a connection has brought.
struct FollowedPiece {
  std::uint8_t direction = 0;  ///< 0: from the flow's first sender, 1: to it
  std::uint64_t position = 0;  ///< of its first byte, counted from the first one that was seen
  std::uint64_t missing = 0;   ///< bytes in front of it that did not come by
  std::span<const std::byte> bytes;
};

/// Puts the segments of one TCP connection in order, as they are shown. The version of a byte that
/// came first counts. What is missing is waited for until its receiver acknowledges it, or
/// kWaitingMax bytes wait behind it.
class FollowReader {
 public:
  static constexpr std::size_t kWaitingMax = 4u << 20;
  using Tell = std::function<void(const FollowedPiece&)>;

  /// `tuple`: of packets of direction 0. `tell` is called in take() and finish().
  FollowReader(const FlowTuple& tuple, Tell tell) : tuple_(tuple), tell_(std::move(tell)) {}

  /// A frame; of others than the connection's nothing happens.
  void take(std::span<const std::byte> frame);
  /// Tells what waits behind holes.
  void finish();
  /// Both sides have said that they are done, or one has reset the connection.
  bool has_ended() const;
  /// Fragments and segments that are cut, of which nothing can be told.
  std::uint64_t unread() const { return unread_; }

 private:
  struct Side {
    std::optional<std::uint32_t> start;                       ///< sequence number of position 0
    std::uint64_t next = 0;                                   ///< position behind what was told
    std::map<std::uint64_t, std::vector<std::byte>> waiting;  ///< by position
    std::size_t waiting_bytes = 0;
    std::optional<std::uint64_t> fin;  ///< position behind the last byte
    bool is_reset = false;
  };

  void take_data(std::uint8_t direction, std::uint32_t sequence, std::span<const std::byte> data);
  void take_acknowledgment(std::uint8_t direction, std::uint32_t acknowledged);
  void tell(std::uint8_t direction, std::span<const std::byte> bytes, std::uint64_t missing);
  void tell_waiting(std::uint8_t direction, std::uint64_t give_up_until);

  FlowTuple tuple_;
  Tell tell_;
  std::array<Side, 2> sides_;
  std::uint64_t unread_ = 0;
};

}  // namespace millrace
