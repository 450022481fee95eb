// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shared/links/order_window.hpp"

namespace millrace {

/// Measures how long batches in an order window have waited for one before them. Called every 10 ms
/// (Actor::take_stock), so that it costs nothing on the path of a batch.
class HoleWatch {
 public:
  /// The counts are those of the window.
  HoleWatch(std::uint32_t stream_count, std::uint32_t lane_count)
      : stream_count_(stream_count),
        lane_count_(lane_count),
        holes_(std::size_t{stream_count} * lane_count) {}

  /// The tick at which the oldest hole was first seen; 0: there is none. `next(stream, lane)`: the
  /// sequence number for which batches wait.
  template <typename Next>
  std::uint64_t oldest(const OrderWindow& window, std::uint64_t now_tsc, Next&& next) noexcept {
    if (window.waiting() == 0 && !any_) return 0;
    any_ = window.waiting() != 0;
    std::uint64_t since = UINT64_MAX;
    for (std::uint32_t stream = 0; stream < stream_count_; ++stream) {
      for (std::uint32_t lane = 0; lane < lane_count_; ++lane) {
        Hole& hole = holes_[std::size_t{stream} * lane_count_ + lane];
        if (window.waiting(stream, lane) == 0) {
          hole = {};
          continue;
        }
        const std::uint64_t sequence = next(stream, lane);
        if (hole.sequence != sequence) hole = {sequence, now_tsc};
        since = std::min(since, hole.since_tsc);
      }
    }
    return any_ ? since : 0;
  }

 private:
  struct Hole {
    std::uint64_t sequence = 0;  ///< from 1; 0: none
    std::uint64_t since_tsc = 0;
  };
  std::uint32_t stream_count_, lane_count_;
  std::vector<Hole> holes_;
  bool any_ = false;  ///< batches waited when it looked last
};

}  // namespace millrace
