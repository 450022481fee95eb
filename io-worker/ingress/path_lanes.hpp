// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io-worker/ingress/lane_choice.hpp"
#include "io-worker/ports/port.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace {

/// The paths that one stream feeds, with their filters and lanes. A lane's number here is its place
/// among all lanes of the stream; `feed` is the place of a path among its paths. One thread.
class PathLanes {
 public:
  struct Chosen {
    std::uint32_t lane;
    bool without_path;  ///< no filter takes the packet: it stays in the first path, to be counted
  };

  PathLanes(const Plan& plan, std::uint32_t stream);

  std::uint32_t lane_count() const noexcept { return lane_count_; }
  /// Lanes that can have an open slot at the same time.
  std::uint32_t open_max() const noexcept { return open_max_; }
  /// True for one path without a filter.
  bool take_all() const noexcept { return feeds_.size() == 1 && feeds_.front().filter.empty(); }
  LaneChoice& choice_of(std::uint32_t feed) noexcept { return feeds_[feed].choice; }
  const LaneChoice& choice_of(std::uint32_t feed) const noexcept { return feeds_[feed].choice; }
  std::uint32_t feed_count() const noexcept { return static_cast<std::uint32_t>(feeds_.size()); }

  /// The lane of the first path with a filter that takes the packet.
  Chosen choose(const RxPacket& packet, std::span<const std::byte> bytes) const noexcept {
    for (const Feed& feed : feeds_) {
      if (!filter_takes(feed.filter, bytes, packet.wire_length)) continue;
      return {feed.lane_first + feed.choice.of(bytes), false};
    }
    return {feeds_.front().choice.of(bytes), true};
  }

 private:
  struct Feed {
    std::span<const std::uint64_t> filter;
    LaneChoice choice;
    std::uint32_t lane_first;
  };

  std::vector<Feed> feeds_;
  std::uint32_t lane_count_ = 0;
  std::uint32_t open_max_ = 0;
};

}  // namespace millrace
