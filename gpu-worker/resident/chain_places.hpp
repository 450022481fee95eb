// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu-worker/resident/arguments.hpp"
#include "services/functions/device_function.hpp"

namespace millrace {

/// What the CPU needs to know about a chain on the GPU.
struct ChainFacts {
  std::uint32_t edition = 0;  ///< stage_edition()
  std::uint32_t members = 0;
  bool whole_frames = false;  ///< some function reads more than headers
  bool keyed = false;         ///< its batches have keys, and those are enough
};

/// The chains on a GPU, used by two threads. The control thread loads new ones and frees those that
/// no batch uses; the data thread switches to loaded ones, and counts the batches of each.
/// NewTables hands them over: the control thread calls load() and forget_loaded() only while no
/// loaded chain waits for take_loaded().
class ChainPlaces {
 public:
  static constexpr std::uint32_t kNone = resident::kChainCount;

  explicit ChainPlaces(std::size_t stage_count);

  // Control thread.
  bool computes_with(std::size_t stage, std::uint32_t edition) const noexcept;
  /// A place that no batch uses. Throws Error when all have batches under way.
  std::uint32_t vacant() const;
  /// Puts `tables` at a vacant place, for `stage` to be computed with.
  void load(std::size_t stage, std::uint32_t place, const ChainFacts& facts,
            std::unique_ptr<DeviceMemory> tables) noexcept;
  /// Forgets chains that were loaded and not taken.
  void forget_loaded() noexcept;
  /// Gives back the memory of places that no batch uses.
  void free_unused() noexcept;
  /// Live tables of all places: DeviceMemory::follow(), and whether there are any.
  DeviceCopies follow(ReaderGrace& grace);
  bool has_followers() const noexcept;

  // Data thread.
  void take_loaded() noexcept;
  /// Place of the stage's chain; kNone: nothing was taken yet.
  std::uint32_t place_of(std::size_t stage) const noexcept { return now_[stage]; }
  const ChainFacts& facts(std::uint32_t place) const noexcept { return places_[place].facts; }
  /// A batch of the place is submitted (enter), or has come back (leave).
  void enter(std::uint32_t place) noexcept { ++places_[place].in_flight; }
  void leave(std::uint32_t place) noexcept;

 private:
  struct Place {
    ChainFacts facts;                      ///< written while no batch uses it
    std::unique_ptr<DeviceMemory> tables;  ///< the control thread's
    std::uint32_t in_flight = 0;           ///< the data thread's, and so is `current`
    bool current = false;
    std::atomic<bool> used{false};  ///< set by the control thread, taken back by the data thread
  };
  void give_up(Place& place) noexcept;

  std::vector<Place> places_;
  std::vector<std::uint32_t> now_;     ///< by stage
  std::vector<std::uint32_t> loaded_;  ///< by stage; kNone: nothing new
};

}  // namespace millrace
