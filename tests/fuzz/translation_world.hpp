// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/nat/lane_pool.hpp"
#include "services/functions/nat/nat_settings.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// Sequences of packets through `flow` and a function that translates, `nat` or `nat64`.

namespace millrace {

inline constexpr std::uint8_t kLan = 0, kWan = 1, kTurn = 2;  ///< kTurn: of a loop
inline constexpr std::uint32_t kPublic = 0xcb007101, kServer = 0xc0000208;

struct TranslationWorld {
  /// `flows_max`: so few that flows meet and push each other out. `more`: settings beside those
  /// that both functions have.
  TranslationWorld(const FunctionType& type, const std::string& flows_max,
                   const Settings& more = {})
      : flow_plan{.name = "flow", .type = "flow", .settings = {{"max", flows_max}, {"udp", "3"}}},
        plan{.name = std::string(type.traits.type),
             .type = std::string(type.traits.type),
             .settings = with(more)},
        flow(flow_type().make({.function = flow_plan, .ports = ports})),
        translation(type.make({.function = plan, .ports = ports})),
        of_flow(flow_type().traits.lane_needs({.settings = flow_plan.settings})),
        of_translation(type.traits.lane_needs({.settings = plan.settings})),
        runner(std::vector<StageFunction>{{.function = flow.get()},
                                          {.function = translation.get()}}) {}

  static Settings with(const Settings& more) {
    Settings settings = {{"inside", "lan"},
                         {"pool", "203.0.113.1"},
                         {"ports", "1024-1027"},
                         {"block", "2"},
                         {"max", "4"}};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  }
  void run(std::uint8_t port) {
    const std::array<LaneState, 2> states{of_flow.state, of_translation.state};
    ++sequence;
    for (const LaneState& state : states) state.undo.begin(0, sequence);
    runner.run(arena.batch(), states, {.port_in = port, .now_ns = now_s * 1'000'000'000});
  }
  /// The last run leaves no trace.
  void take_back(const LaneMemory& memory, const std::vector<std::byte>& before) const {
    MILLRACE_CHECK(memory.state.undo.undo(0, sequence) == LaneUndoLog::Undone::kAll);
    MILLRACE_CHECK(std::ranges::equal(memory.state.bytes, before));
  }
  /// All flows end, and no mapping is left. `settings`: of the translation's pool.
  void check_end(const NatSettings& settings) {
    for (int turn = 0; turn < 4; ++turn) {
      now_s += 1'000'000;
      arena.clear();
      arena.add(FrameBuilder().type(0x88b5).build());
      run(kLan);
    }
    const auto pool = LanePool(settings).laid_out(of_translation.state);
    MILLRACE_CHECK(pool && pool->count() == 0);
  }

  std::vector<PlanPort> ports{{.name = "lan"}, {.name = "wan"}, {.name = "turn", .device = "loop"}};
  PlanFunction flow_plan, plan;
  std::unique_ptr<Function> flow, translation;
  LaneMemory of_flow, of_translation;
  StageRunner runner;
  BatchArena arena{kBatchCapacityDefault};
  std::uint64_t now_s = 1, sequence = 0;
};

inline bool is_turned(const Batch& batch, std::uint32_t packet) {
  return !batch.goes_on(packet) && batch.leaves(packet) && batch.output[packet] == kTurn;
}

/// What has been sent to the loop comes in there.
template <typename Check>
void run_turned(TranslationWorld& world,
                const std::vector<std::span<const std::uint8_t>>& operations, Check check) {
  std::vector<Frame> frames;
  std::vector<std::span<const std::uint8_t>> turned;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (!is_turned(world.arena.batch(), i)) continue;
    const auto frame = world.arena.batch().bytes(i);
    frames.emplace_back(frame.begin(), frame.end());
    turned.push_back(operations[i]);
  }
  if (frames.empty()) return;
  world.arena.clear();
  for (const Frame& frame : frames) world.arena.add(frame);
  world.run(kTurn);
  for (std::uint32_t i = 0; i < frames.size(); ++i) check(world, i, frames[i], turned[i], kTurn);
}

/// An operation is eight bytes, and makes one packet. What only batches have (the side that it
/// comes from, its size, the time since the last one, whether it is taken back) is said by the
/// last two bytes of the first one. `frame_of(operation, inside)` makes the packet;
/// `check(world, packet, sent, operation, port)` looks at what has become of it; what went to the
/// loop comes in there and is looked at once more.
template <typename FrameOf, typename Check>
void run_operations(TranslationWorld& world, std::span<const std::uint8_t> rest, FrameOf frame_of,
                    Check check) {
  constexpr std::size_t kOpBytes = 8;
  while (rest.size() >= kOpBytes) {
    world.now_s += rest[7] >> 5;
    const bool dies = rest[6] % 32 == 3, inside = rest[6] / 32 % 2 == 0;
    std::vector<Frame> sent;
    std::vector<std::span<const std::uint8_t>> operations;
    world.arena.clear();
    for (int packets = rest[7] % 8; packets >= 0 && rest.size() >= kOpBytes; --packets) {
      operations.push_back(rest.first(kOpBytes));
      sent.push_back(frame_of(operations.back(), inside));
      world.arena.add(sent.back());
      rest = rest.subspan(kOpBytes);
    }
    const auto flow = world.of_flow.copy(), translation = world.of_translation.copy();
    const std::uint8_t port = inside ? kLan : kWan;
    world.run(port);
    for (std::uint32_t i = 0; i < sent.size(); ++i) check(world, i, sent[i], operations[i], port);
    if (!dies) {
      run_turned(world, operations, check);
      continue;
    }
    world.take_back(world.of_flow, flow);
    world.take_back(world.of_translation, translation);
  }
}

}  // namespace millrace
