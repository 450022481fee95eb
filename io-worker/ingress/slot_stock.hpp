// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/base/check.hpp"
#include "shared/base/prefetch.hpp"
#include "shared/ring/spsc_ring.hpp"

namespace millrace {

/// The free slots of one stream: a private stack in front of the return rings, fetched ahead of
/// their use. Counts the slots of each of the stream's paths, which have a maximum
/// (PlanStreamPath::slots_max). All of that is the ingress's own memory, read once a batch.
///
/// `feed`: place of a path among those of the stream. `slot`: number in the segment.
class SlotStock {
 public:
  /// Finds the free slots by a scan; slots in flight count for their paths. `ahead`: how many are
  /// fetched before they are taken.
  SlotStock(const ActorContext& context, std::uint32_t stream, std::uint32_t ahead);

  /// Free slots that collect() has found.
  std::uint32_t count() const noexcept { return count_; }
  /// The same, with those that lie in the return rings.
  std::uint32_t count_with_returned() const noexcept;
  bool some_returned() const noexcept;
  /// Takes slots that have come back. Each call reads cache lines of other cores.
  void collect() noexcept;
  /// True when the path has all slots that it may have, as of the last collect().
  bool is_used_up(std::uint16_t feed) const noexcept {
    const Use& use = uses_[feed];
    return use.max != 0 && use.count >= use.max;
  }
  /// Takes a free slot; count() is not 0.
  std::uint32_t take(std::uint16_t feed) noexcept {
    const std::uint32_t slot = free_[--count_];
    if (limited_) note_used(slot, feed);
    return slot;
  }
  /// Called after take(): fetches the slots that are taken next.
  void fetch() const noexcept { fetch(ahead_); }
  /// The slot's columns, at full capacity.
  const Batch& view(std::uint32_t slot) const noexcept { return views_[slot - first_]; }

 private:
  struct Use {
    std::uint32_t max;        ///< 0: any number
    std::uint32_t count = 0;  ///< kept where a path has a maximum; open ones too
  };
  void note_used(std::uint32_t slot, std::uint16_t feed) noexcept {
    feed_of_[slot - first_] = feed;
    ++uses_[feed].count;
  }
  std::uint16_t feed_of_lane(std::uint16_t lane) const;
  void fetch(std::uint32_t next) const noexcept {
    if (count_ < next) return;
    prefetch_lines_for_write(&context_.segment.slot(free_[count_ - next]), written_bytes_);
  }

  ActorContext context_;
  const PlanStream& plan_;
  std::uint32_t first_;
  std::uint32_t ahead_;
  std::uint32_t written_bytes_;  ///< of a slot, from its start to the last column of an ingress
  bool limited_ = false;         ///< a path has a maximum
  std::vector<Use> uses_;        ///< by feed
  std::vector<std::uint16_t> feed_of_;  ///< of slots that are not free, from first_
  std::vector<Batch> views_;            ///< from first_
  std::array<SpscRing<std::uint64_t>, kReturnerCount> returned_;
  std::vector<std::uint32_t> free_;
  std::uint32_t count_ = 0;
};

}  // namespace millrace
