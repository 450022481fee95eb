// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "io-worker/ports/port.hpp"
#include "shared/actor/context.hpp"

/// Adds the counts of a receive queue to the counters of its ingress, and tells of trouble with its
/// source. The queue counts from 0 in each process; the counters go on.

namespace millrace {

class QueueCounts {
 public:
  /// `queue` is borrowed.
  QueueCounts(const ActorContext& context, std::uint32_t stream, RxQueue& queue)
      : context_(context), stream_(stream), queue_(queue) {}

  /// `tell` is called with the trouble of the port's source. Without it no trouble is told.
  void tell_by(TellTrouble tell) { tell_ = std::move(tell); }
  /// Packets missed and errors since the last call.
  void count() noexcept;
  /// Tells the errors counted so far, at the first of them and once more at the end of the source,
  /// and that the source has recovered.
  void tell_trouble() noexcept;

 private:
  void tell(const char* what) noexcept;
  void count_growth(Counter id, std::uint64_t now, std::uint64_t& seen) noexcept;

  ActorContext context_;
  std::uint32_t stream_;
  RxQueue& queue_;
  std::uint64_t missed_ = 0, errors_ = 0;  ///< counted already
  std::uint64_t errors_told_ = 0;
  TellTrouble tell_;
};

}  // namespace millrace
