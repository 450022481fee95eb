// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "shared/actor/context.hpp"
#include "shared/base/hooks.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/recovery/recovery.hpp"

/// The race test's world: a topology of real actors in forked processes over anonymous shared
/// memory, a supervisor that restarts what dies, and hooks that kill or stop an actor between any
/// two stores.

namespace millrace::race {

inline constexpr std::uint64_t kOrdinalMax = 4'000'000;  ///< packets a stream can have in a round
inline constexpr std::size_t kHookCount = static_cast<std::size_t>(HookPoint::kCount);

inline constexpr std::uint32_t kLoopStream = 2;  ///< of what stream 1 has sent to the loop

enum class Blow : std::uint32_t { kNone = 0, kKill = 1, kStop = 2 };

/// What all processes of a round share beside the topology's own memory.
/// Stands in the place of the ordinal in a frame that a worker has the egress send.
inline constexpr std::uint64_t kSideOrdinal = UINT64_MAX;
inline constexpr std::uint32_t kStateLines = 4;  ///< of a lane's state

struct Arena {
  struct Arm {
    std::atomic<std::uint32_t> blow;      ///< Blow; cleared when it falls
    std::atomic<std::uint32_t> point;     ///< HookPoint
    std::atomic<std::int32_t> countdown;  ///< passes of the point until the blow
  };
  Arm arm[kActorCountMax];
  std::atomic<std::uint64_t> fallen[kHookCount];  ///< blows that fell, by point
  std::atomic<std::uint32_t> unkillable;  ///< actor that SIGKILL does not end (simulated); 0: none
  std::atomic<std::uint64_t> handed_out[2];  ///< packets that each source has given at least once
  std::atomic<std::uint32_t> held_rx[2], held_tx[2];  ///< buffers in the queues of a stream
  std::atomic<bool> traffic;                          ///< the sources go on
  std::atomic<std::uint64_t> inversions_out, inversions_state, duplicates, bad_results;
  std::atomic<std::uint64_t> torn_states;  ///< that a batch found
  std::atomic<std::uint64_t> touched;      ///< buffers that changed while a queue had them
  std::atomic<std::uint64_t> late, reordered, out_of_order;
  std::uint64_t last_out[kStreamCountMax][kLaneCountMax];  ///< last ordinal sent + 1
  std::uint64_t last_state[kStreamCountMax]
                          [kLaneCountMax];  ///< last sequence at the stateful stage
  std::uint8_t seen[2][kOrdinalMax];        ///< how often an ordinal left
  std::atomic<std::uint64_t> side_seen[2];  ///< frames of side lists that left
};

class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();  // ends all children

  const Plan& plan() const { return plan_; }
  Arena& arena() const { return *arena_; }
  ActorContext context(std::uint32_t actor) const;

  void start(std::uint32_t actor);
  /// Collects dead children and restarts those whose entries are vacant. Hub and standby are not
  /// restarted.
  void supervise();
  bool running(std::uint32_t actor) const { return pids_[actor] > 0; }
  std::int32_t pid(std::uint32_t actor) const { return pids_[actor]; }
  /// All sources exhausted and every batch released.
  bool quiet() const;

 private:
  std::uint64_t seed_;
  Plan plan_;
  Mapping segment_, status_, arena_memory_;
  Arena* arena_ = nullptr;
  SegmentView segment_view_;
  StatusView status_view_;
  std::vector<std::int32_t> pids_;
};

/// Body of a child; never returns.
[[noreturn]] void run_actor(const ActorContext& context, Arena& arena, std::uint64_t seed);

/// Every slot but the `quarantined`, and without those every buffer that no queue keeps, is with
/// its ingress or on the way there.
bool all_returned(const World& world, std::uint32_t quarantined);

/// What the law says about a finished round; prints each breach. Returns their number.
std::uint32_t check_round(const World& world, std::uint32_t quarantined);

/// Prints which actors live and where every batch lies: after a round that got stuck.
void dump(const World& world);

/// Names of the hooks, in order.
const char* hook_name(std::size_t point);

}  // namespace millrace::race
