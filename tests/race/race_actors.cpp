// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu-worker/gpu_actor.hpp"
#include "gpu-worker/software_device/software_device.hpp"
#include "io-worker/egress/egress_actor.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/loop/loop_rx.hpp"
#include "io-worker/loop/loop_tx.hpp"
#include "services/classifier/classifier_actor.hpp"
#include "shared/actor/enrol.hpp"
#include "shared/base/process.hpp"
#include "shared/recovery/kernel_processes.hpp"
#include "tests/race/race_ports.hpp"
#include "tests/race/race_world.hpp"

namespace millrace {
namespace {
race::Arena* g_arena = nullptr;
std::uint32_t g_actor = 0;
}  // namespace

// The hook itself: in front of each store of a transition.
void hook(HookPoint point) noexcept {
  if (g_arena == nullptr) return;
  race::Arena::Arm& arm = g_arena->arm[g_actor];
  const auto blow = static_cast<race::Blow>(arm.blow.load(std::memory_order_relaxed));
  if (blow == race::Blow::kNone || arm.point.load() != static_cast<std::uint32_t>(point)) return;
  if (arm.countdown.fetch_sub(1) > 1) return;
  arm.blow.store(0);
  g_arena->fallen[static_cast<std::size_t>(point)].fetch_add(1);
  kill(getpid(), blow == race::Blow::kKill ? SIGKILL : SIGSTOP);
}

namespace race {
namespace {

/// Low half of the packet's ordinal.
std::uint32_t word_of(const Batch& batch, std::uint32_t packet) {
  std::uint32_t word = 0;
  std::memcpy(&word, batch.data(packet) + 16, sizeof word);
  return word;
}

/// Results are the ordinals, so a result of another batch is noticed; the stateful stage looks at
/// the sequence.
class WitnessWork : public StageWork {
 public:
  WitnessWork(const ActorContext& context, Arena& arena) : context_(context), arena_(arena) {}
  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    if (!context_.plan->stages[stage].stateful) return;
    std::uint64_t& last = arena_.last_state[batch.header->stream][batch.header->lane];
    if (batch.header->sequence <= last) arena_.inversions_state.fetch_add(1);
    last = batch.header->sequence;
    change_state(stage, *batch.header);
    if (last % kSideEach == 0) ask_egress(batch);
  }
  void compute(std::uint8_t, const Batch& batch, std::uint32_t* results) noexcept override {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      results[i] = word_of(batch, i);
    }
  }
  std::uint32_t columns(std::uint8_t, std::uint32_t) const noexcept override { return 1; }
  void finish(std::uint8_t, const Batch& batch) noexcept override {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      if (batch.result[i] != word_of(batch, i)) arena_.bad_results.fetch_add(1);
    }
  }

 private:
  static constexpr std::uint64_t kSideEach = 3;  ///< batches

  /// Each line of a lane's state counts the batches that it has seen, the first line twice a batch:
  /// after a kill between two lines all have to say the same again.
  void change_state(std::uint8_t stage, const SlotHeader& header) const noexcept {
    const std::uint32_t function = context_.plan->stages[stage].functions.front();
    const std::span<std::byte> state =
        context_.segment.lane_state(*context_.plan, function, header.lane);
    const LaneUndoLog undo = context_.segment.lane_undo(*context_.plan, function, header.lane);
    undo.begin(header.stream, header.sequence);
    std::array<std::uint64_t, kStateLines> seen{};
    for (std::size_t line = 0; line < kStateLines; ++line) {
      std::memcpy(&seen[line], state.data() + line * kCacheLine, sizeof seen[line]);
      if (seen[line] != seen[0]) arena_.torn_states.fetch_add(1);
    }
    const auto write = [&](std::size_t line, std::uint64_t count) {
      undo.keep(line * kCacheLine, sizeof count);
      hook(HookPoint::kWorkChange);
      std::memcpy(state.data() + line * kCacheLine, &count, sizeof count);
    };
    write(0, UINT64_MAX);
    for (std::size_t line = kStateLines; line-- > 0;) write(line, seen[line] + 1);
  }
  static constexpr std::size_t kSideFrameBytes = 60;

  /// A frame beside the batch's own packets, among them.
  void ask_egress(const Batch& batch) const noexcept {
    const std::uint32_t port = context_.plan->streams[batch.header->stream].paths[0].output;
    const std::span<std::byte> frame =
        batch.side.add({.packet = static_cast<std::uint16_t>(batch.count / 2),
                        .kind = static_cast<std::uint8_t>(SideKind::kSend),
                        .port = static_cast<std::uint8_t>(port),
                        .why = static_cast<std::uint8_t>(Reason::kSolicit)},
                       kSideFrameBytes);
    std::ranges::fill(frame, std::byte{0});
    std::memcpy(frame.data() + 16, &kSideOrdinal, sizeof kSideOrdinal);
  }

  ActorContext context_;
  Arena& arena_;
};

/// The kernel's processes, but one that SIGKILL does not end.
class StubbornProcesses : public KernelProcesses {
 public:
  StubbornProcesses(const ActorContext& context, Arena& arena) : context_(context), arena_(arena) {}
  void kill(std::int32_t pid, std::uint64_t start_time) override {
    const std::uint32_t stubborn = arena_.unkillable.load();
    if (stubborn != 0 && context_.entry(stubborn).pid.load() == pid) return;
    KernelProcesses::kill(pid, start_time);
  }

 private:
  ActorContext context_;
  Arena& arena_;
};

[[noreturn]] void lead(const ActorContext& context, Arena& arena) {
  StubbornProcesses processes(context, arena);
  const bool wordy = std::getenv("RACE_LOG") != nullptr;
  const auto tell = [&](const RecoveryEvent& event) {
    if (!wordy) return;
    std::fprintf(stderr, "[%s] %s %s (%lu)\n", context.plan->actors[context.me.actor].name.c_str(),
                 context.plan->actors[event.actor].name.c_str(), event.what,
                 static_cast<unsigned long>(event.number));
  };
  const RecoveryLimits limits{400'000'000, 2'000'000'000, 400'000'000};
  Recovery recovery(context, processes, limits, tell);
  while (true) {
    context.my_entry().heartbeat_tsc.store(tsc_now());
    const int wait_ms = recovery.tick();
    if (wait_ms > 0) processes.wait_for_exit(wait_ms);
  }
}

[[noreturn]] void run_hub(ActorContext context, Arena& arena) {
  ActorEntry& entry = context.my_entry();
  entry.pid = getpid();
  entry.start_time = process_start_time(getpid());
  entry.incarnation = context.me.incarnation = 1;
  entry.state = static_cast<std::uint32_t>(ActorState::kAlive);
  lead(context, arena);
}

[[noreturn]] void run_standby(const ActorContext& context, Arena& arena) {
  KernelProcesses processes;
  const ActorEntry& hub = context.entry(0);
  while (!processes.exited(hub.pid, hub.start_time)) {
    context.my_entry().heartbeat_tsc.store(tsc_now());
    processes.wait_for_exit(20);
  }
  lead(context, arena);
}

[[noreturn]] void loop(const ActorContext& context, Actor& actor) {
  const std::atomic<bool> never{false};
  RunLoop(context, actor, never).run();
  _exit(0);
}

}  // namespace

void run_actor(const ActorContext& base, Arena& arena, std::uint64_t seed) {
  ActorContext context = base;
  g_actor = context.me.actor;
  const ActorKind kind = context.plan->actors[g_actor].kind;
  WitnessWork work(context, arena);
  if (kind == ActorKind::kHub) {
    g_arena = &arena;
    run_hub(context, arena);
  }
  context.me = enrol(*context.plan, context.status, g_actor, 20'000'000'000, [] { return false; });
  g_arena = &arena;
  const std::uint32_t number = context.plan->actors[g_actor].index;
  const bool holds = seed / 1000 % 3 != 0;  // of a round: its queues keep buffers, as drivers do
  if (kind == ActorKind::kStandby) run_standby(context, arena);
  if (kind == ActorKind::kIngress) {
    BufferPool pool(context, number);
    std::unique_ptr<RxQueue> queue;
    if (number == kLoopStream) {
      queue = std::make_unique<LoopRxQueue>(context, number);
    } else {
      queue = std::make_unique<NumberedRx>(arena, number, holds);
    }
    IngressActor actor(context, number, pool, *queue);
    loop(context, actor);
  }
  if (kind == ActorKind::kClassifier) {
    ClassifierActor actor(context, work);
    loop(context, actor);
  }
  if (kind == ActorKind::kGpu) {
    SoftwareDevice device(context, work, {seed, 200, true, 50});
    GpuActor actor(context, device);
    loop(context, actor);
  }
  TxQueues ports;
  for (std::uint32_t s = 0; s < 2; ++s) {
    const std::uint32_t last = s == 0 ? 0 : kLoopStream;  // of whose packets
    ports[context.plan->streams[last].paths[0].output] =
        std::make_unique<WitnessTx>(arena, context.segment, s, holds);
  }
  const std::uint32_t again = context.plan->streams[kLoopStream].port;
  ports[again] = std::make_unique<LoopTxQueue>(context, again);
  EgressActor actor(context, ports, work);
  loop(context, actor);
}

}  // namespace race
}  // namespace millrace
