// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"

/// The consumer's side of all links of one actor, read in turn.
///
/// A take from a CPU actor stamps the slot's owner, then releases the ring entry: afterwards the
/// batch is ours, held for `stage`. A take from a GPU is an acceptance: the completion counts only
/// if the slot still names that very incarnation as its holder and the generation fits; a late or
/// second one is counted and ignored. The link of a fenced GPU incarnation is not read any more
/// (our acknowledgement of the epoch says so).

namespace millrace {

struct Taken {
  std::uint32_t slot = 0;
  std::uint8_t stage = 0;  ///< to be done; of a completion: the stage the GPU has computed
  bool computed = false;   ///< a completion: results are ready, finish is still to be called
  std::uint32_t gpu = 0;   ///< computed: number of the result area
};

class Inbox {
 public:
  explicit Inbox(const ActorContext& context);
  Inbox(const Inbox&) = delete;
  Inbox(Inbox&&) noexcept = default;
  Inbox& operator=(const Inbox&) = delete;
  /// Takes the next batch, if there is one.
  bool take(Taken& out) noexcept;
  /// The slot of the batch that take() will give next, unless a cold link has one; for fetching its
  /// lines early. Takes nothing. False: no hot link has a batch, or a GPU's completion comes next.
  bool peek(std::uint32_t& slot) noexcept;
  bool empty() const noexcept;
  void read_roster() noexcept;
  /// Publishes, for observers, how many batches lie in each link.
  void take_stock() noexcept;

 private:
  struct Source {
    std::uint32_t actor = 0;
    bool gpu = false;
    bool open = true;  ///< false: a fenced GPU's
    std::uint32_t gpu_number = 0;
    Owner life;  ///< of a GPU: its present one
    SpscRing<std::uint64_t> ring;
    std::uint32_t link = 0;
    PeakMark high;                  ///< most batches that were in it
    std::uint32_t found_empty = 0;  ///< times in a row
  };
  static constexpr std::size_t kAllHotMax = 2;         ///< sources that are all read in turn
  static constexpr std::uint32_t kFoundEmptyMax = 64;  ///< then a source gets cold
  static constexpr std::uint32_t kTakesToCold = 4;     ///< then one that is cold is looked at

  Source* find_hot(std::uint64_t& word) noexcept;
  bool take_hot(Taken& out) noexcept;
  bool take_cold(Taken& out, std::size_t looks) noexcept;
  bool take_from(Source& source, Taken& out) noexcept;
  bool accept(const Source& source, std::uint64_t word) noexcept;

  ActorContext context_;
  std::vector<Source> sources_;
  bool all_hot_;
  // To read an empty link costs 20 instructions, and its cache line if that was written. Links from
  // which nothing came lately are cold: one of them is read for every fourth batch from a hot link,
  // and all when no hot link has any. Links of hub and standby are mostly cold: they send seldom.
  std::vector<Source*> hot_, cold_;  ///< of sources_
  Source* found_ = nullptr;          ///< by the last peek: hot_[next_], in which something lies
  std::size_t next_ = 0;             ///< in hot_
  std::size_t next_cold_ = 0;
  std::uint32_t takes_to_cold_ = kTakesToCold;
};

}  // namespace millrace
