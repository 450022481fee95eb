// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/child.hpp"
#include "orchestration/supervisor/restart_policy.hpp"
#include "shared/base/patience.hpp"
#include "shared/config/observers.hpp"
#include "shared/config/plan.hpp"
#include "shared/control/messages.hpp"
#include "shared/layout/status_file.hpp"

namespace millrace {

enum class Wish : std::uint8_t { kDown, kUp, kDraining };

/// A process's place: an actor of the plan, or an observer (kNoActor).
struct Seat {
  std::uint32_t actor = kNoActor;
  std::vector<std::uint32_t> others;  ///< actors of the same process (fused)
  std::optional<Child> child;
  std::optional<Child> next;  ///< waits for the end of `child`, whose place it takes (upgrade)
  std::string note;           ///< how the last process ended; empty: none has
};

/// A role that the supervisor keeps filled: one actor, or the two incarnations of one GPU worker,
/// of which one is to run. One thread.
struct Post {
  std::string name;                        ///< of its first actor, or of the observer
  std::optional<ActorKind> kind;           ///< nothing: an observer
  const ObserverKind* observer = nullptr;  ///< null: it has a kind
  std::uint32_t group = 0;                 ///< classifier, gpu
  std::uint32_t index = 0;                 ///< worker number in its group
  std::vector<Seat> seats;
  std::size_t current = 0;  ///< the seat that filled it last
  Wish wish = Wish::kDown;
  RestartPolicy policy{RestartLimits{}};
  Patience drain{std::chrono::milliseconds(0)};  ///< while draining: until SIGKILL
  std::uint32_t failed_starts = 0;  ///< in a row: not executed, or it gave up at its start
  bool reported = false;            ///< that it was given up, or cannot come back
  std::string folder;               ///< of its executable; empty: the fleet's
  bool helper = false;              ///< of an upgrade: a supervisor that takes over sends it away
  bool replacing = false;           ///< an upgrade sees to it: nothing else starts it

  Seat& seat() { return seats[current]; }
  const Seat& seat() const { return seats[current]; }
};

/// Of a group: a classifier, or a GPU worker.
inline bool is_worker(const Post& post) { return post.kind && is_of_group(*post.kind); }

using StateOf = std::function<ActorState(const Seat& seat)>;

/// The posts of a plan: hub, standby, each ingress, worker and egress, then the observers that
/// the topology has (observers.hpp).
/// Spare workers have a post too, with Wish::kDown.
std::vector<Post> make_posts(const Plan& plan, RestartLimits limits);

/// An actor that no packet can do without (an ingress, an egress) has been given up.
bool cannot_move_packets(const std::vector<Post>& posts);

/// Its process ended, or hangs fenced while its twin can take over.
bool is_lost(const Post& post, const StateOf& state);

/// The seat in which a process of this post may be started now, if any: its last life has been
/// recovered (vacant), no process sits in it, and the policy allows it. The hub is never started
/// again: its memory cannot be handed over; the standby recovers until a planned restart.
/// `hub_gone`: then nothing makes a dead standby's seat vacant, and its successor takes it as it
/// is.
std::optional<std::size_t> seat_to_start(const Post& post, const StateOf& state,
                                         RestartPolicy::Time now, bool hub_gone = false);

}  // namespace millrace
