// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/config/plan.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"
#include "shared/metrics/counter_ids.hpp"

namespace millrace {

/// A counter of an actor, as it is now.
std::uint64_t counter_of(const StatusView& status, std::uint32_t actor, Counter id);

/// The status file, mapped read-only: what the supervisor sees of the running topology.
/// share_words.hpp and balancing.hpp write the only words of it that the supervisor changes.
class StatusSource {
 public:
  /// Throws Error when the hub has not made the file, or made it for another plan. `plan` is
  /// borrowed.
  explicit StatusSource(const Plan& plan);
  /// Over memory that the caller holds (tests).
  StatusSource(const Plan& plan, const StatusView& view) : plan_(plan), view_(view) {}

  ActorState state(std::uint32_t actor) const;

  struct Facts {
    std::uint32_t incarnation = 0;
    std::int32_t pid = 0;
    std::uint64_t packets = 0, batches = 0;
    std::uint64_t heartbeat_age_ms = 0;
    std::uint64_t busy_ticks = 0, idle_ticks = 0;
  };
  Facts facts(std::uint32_t actor) const;

  /// Moves while the actor's loop does.
  std::uint64_t heartbeat(std::uint32_t actor) const {
    return view_.actor(actor).heartbeat_tsc.load(std::memory_order_relaxed);
  }

  /// The actor that reads the share of a port's flows with the number of `ingress`'s queue.
  std::uint32_t share_reader(std::uint32_t ingress) const {
    return view_.actor(ingress).share_reader.load(std::memory_order_acquire);
  }
  /// Plan::revision by which the actor's data thread works.
  std::uint32_t revision(std::uint32_t actor) const;
  /// Numbers of the batches that were sealed last, by stream and lane.
  std::vector<std::uint64_t> sealed() const;
  /// All of those, and so all before them, have left.
  bool released(const std::vector<std::uint64_t>& sealed) const;

  /// Packets that went past a function, of all actors.
  std::uint64_t skipped(std::uint32_t function, SkipReason why) const;

  /// Out of service: its workers died too often in it, or a user said so.
  bool is_out(std::uint32_t function) const;

  /// Ingresses read nothing until further notice (drain_word.hpp).
  bool is_drained() const;

  /// Times that the actor's port could not be read on.
  std::uint64_t receive_errors(std::uint32_t actor) const;

  /// Packets of a path that ingresses refused.
  std::uint64_t refused(std::uint32_t path) const;

  /// Packets received and not yet at their end, of all lanes and in loops; may be off by what moves
  /// meanwhile, but is not 0 while anything moves.
  std::uint64_t in_flight() const;
  /// Every ingress is alive and will receive nothing again, or not before it is told to go on.
  /// False without ingress.
  bool all_exhausted() const;

 private:
  std::uint64_t in_batches() const;
  std::uint64_t received() const;

  const Plan& plan_;
  Mapping mapping_;
  StatusView view_;
};

}  // namespace millrace
