// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "orchestration/supervisor/balance.hpp"
#include "shared/config/plan.hpp"
#include "shared/control/messages.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Looks five times a second at what the gpu groups with `offload: auto` and the classifiers beside
/// them have done, and says how many batches go to which (offload_word.hpp). One that takes over
/// goes on from the share that is there. One thread.
///
/// A group with devices of software, though its file names none (`device: auto` without a GPU),
/// gets nothing: it would compute on the CPU what the classifiers do.
class Balancing {
 public:
  using Clock = std::chrono::steady_clock;
  using Note = std::function<void(Event)>;

  /// `plan` is borrowed.
  Balancing(const Plan& plan, Note note) : plan_(plan), note_(std::move(note)) {}
  /// Over memory that the caller holds (tests).
  Balancing(const Plan& plan, Note note, const StatusView& view)
      : plan_(plan), note_(std::move(note)), view_(view) {}

  /// Several times a second, once the topology is there. Throws Error as StatusSource.
  void look(Clock::time_point now);
  /// Percent to the GPU, by group.
  std::vector<NamedCount> shares() const;

 private:
  /// Why a side gets nothing; kNone: it is used.
  enum class Why : std::uint8_t { kNone, kAbsent, kSoftware };
  struct Group {
    std::uint32_t number = 0;
    Balance balance;
    Why gpu = Why::kNone;  ///< as noted last
  };

  void find_groups();
  Balance::Look read(const Group& group, Clock::time_point now) const;
  Why gpu_of(std::uint32_t group) const;
  bool has_worker(std::uint32_t group) const;
  void note_gpu(Group& group, Why now) const;

  const Plan& plan_;
  Note note_;
  Mapping mapping_;
  std::optional<StatusView> view_;
  std::optional<std::vector<Group>> groups_;  ///< nothing: not looked for yet
  Clock::time_point next_look_{};
};

}  // namespace millrace
