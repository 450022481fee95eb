// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "shared/actor/context.hpp"

namespace millrace {

/// Moves lanes of groups with state between living workers: from one that leaves, and from one that
/// has two more than another. By the leader, from one thread. What shared memory says (the held
/// lane, lane maps) is enough for a successor to end a move.
class LaneMoves {
 public:
  struct Means {
    std::function<void()> bump_epoch;                 ///< all are to acknowledge what was stored
    std::function<void(std::uint32_t worker)> drain;  ///< it has no lane: it may end
  };
  LaneMoves(const ActorContext& context, Means means);

  /// Lets the worker drain once its lanes are with others.
  void leave(std::uint32_t worker);
  /// One bounded step. True when something moved.
  bool tend(std::uint64_t now_ns);
  bool under_way() const { return move_.has_value(); }

 private:
  struct Move {
    enum class Step { kHold, kHand, kLetGo } step = Step::kHold;
    std::uint32_t group = 0, lane = 0;
    std::uint16_t from = 0, to = 0;
    std::uint64_t epoch = 0;     ///< that all have to acknowledge
    std::uint64_t since_ns = 0;  ///< of the hold
  };

  bool is_open(std::uint32_t group, std::uint16_t worker) const;
  std::optional<Move> next_move(std::uint32_t group) const;
  bool step_move(std::uint64_t now_ns);
  void let_lanes_go();
  bool acknowledged(std::uint64_t epoch, bool ingresses_only) const;
  bool has_left(std::uint32_t lane) const;
  bool finish_leaving();

  ActorContext context_;
  Means means_;
  std::optional<Move> move_;
  std::vector<bool> leaving_;           ///< by actor
  std::uint64_t no_move_until_ns_ = 0;  ///< one was given up
};

}  // namespace millrace
