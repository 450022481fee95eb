// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences of packets through `flow`: few hosts and ports, so that they meet. A batch that is
// taken back leaves no trace; every flow of the table is found from both sides.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kFlows = 5;
constexpr std::size_t kOpBytes = 8;

/// Behind `flow`: drops, translates and forgets, as the packet's last byte says.
struct Behind final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      const std::uint32_t flow = call.flows->of(packet).flow;
      if (flow == kNoFlow) continue;
      const auto what = std::to_integer<unsigned>(call.batch.bytes(packet).back()) % 8;
      if (what == 1) call.batch.drop(packet, Reason::kMalformed);
      if (what == 2) call.flows->forget(flow);
      if (what != 3 || !call.flows->is_new(flow)) continue;
      FlowTuple answer = reversed(call.flows->tuple(flow, 0));
      answer.destination_port = 40'000;
      static_cast<void>(call.flows->translate(flow, answer));
    }
  }
};

struct World {
  PlanFunction plan{.name = "flow", .type = "flow", .settings = {{"max", "5"}, {"udp", "3"}}};
  LaneMemory lane{flow_type().traits.lane_needs({.settings = plan.settings})};
  std::unique_ptr<Function> flow = flow_type().make({.function = plan, .ports = {}});
  Behind behind;
  StageRunner runner{std::vector<StageFunction>{{.function = flow.get()}, {.function = &behind}}};
  BatchArena arena{kBatchCapacityDefault};

  void run(std::uint64_t sequence, std::uint64_t now_s) {
    const std::array<LaneState, 2> states{lane.state, {}};
    states[0].undo.begin(0, sequence);
    runner.run(arena.batch(), states, {.now_ns = now_s * 1'000'000'000});
  }
};

/// A packet of the eight bytes: TCP, UDP, an echo, an ICMP error that quotes one, or a fragment.
std::vector<std::byte> frame_of(std::span<const std::uint8_t> op) {
  std::vector<std::uint8_t> ip(20 + 28 + 20);
  static constexpr std::uint8_t kProtocols[] = {6, 6, 6, 17, 1, 1, 47, 17};
  const std::uint8_t protocol = kProtocols[op[0] % 8];
  const auto header = [&](std::size_t at, std::uint8_t carries, bool turned) {
    ip[at] = 0x45;
    ip[at + 3] = static_cast<std::uint8_t>(ip.size() - at);
    ip[at + 6] = op[6] % 16 == 1 ? 0x20 : 0;
    ip[at + 7] = op[6] % 16 == 2 ? 3 : 0;
    ip[at + 9] = carries;
    ip[at + (turned ? 19 : 15)] = op[1] % 3;
    ip[at + (turned ? 15 : 19)] = op[1] / 4 % 3;
  };
  header(0, protocol, false);
  if (protocol == 1 && op[0] % 8 == 5) {
    ip[20] = 3;
    header(28, op[2] % 2 == 0 ? 17 : 6, true);
    ip[49] = op[2] / 4 % 2;
    ip[51] = op[2] / 2 % 2;
  } else if (protocol == 1) {
    ip[20] = op[2] % 2 == 0 ? 8 : 0;
    ip[25] = op[2] / 2 % 2;
  } else {
    ip[21] = op[2] % 2;
    ip[23] = op[2] / 2 % 2;
    ip[27] = op[3];
    ip[31] = op[4];
    ip[32] = 0x50;
    ip[33] = op[5];
    ip[34] = op[6];
  }
  ip.back() = op[7];
  std::vector<std::byte> frame(14);
  frame[12] = std::byte{8};
  std::ranges::transform(ip, std::back_inserter(frame), [](auto byte) { return std::byte{byte}; });
  return frame;
}

void check_table(const World& world) {
  const FlowTable table(world.lane.state, kFlows, {1, 1});
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    const FlowEntry& entry = table.entry(i);
    if (entry.used == 0) continue;
    ++used;
    MILLRACE_CHECK(table.find(entry.tuple)->flow == i);
    MILLRACE_CHECK(table.find(entry.answer)->flow == i);
  }
  MILLRACE_CHECK(used == table.count());
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::World world;
  std::span<const std::uint8_t> rest(data, size);
  std::uint64_t now_s = 1, sequence = 0;
  while (rest.size() >= millrace::kOpBytes) {
    now_s += rest[7] >> 5;
    const bool dies = rest[6] % 32 == 3;
    world.arena.clear();
    for (int packets = rest[5] % 8; packets >= 0 && rest.size() >= millrace::kOpBytes; --packets) {
      world.arena.add(millrace::frame_of(rest.first(millrace::kOpBytes)));
      rest = rest.subspan(millrace::kOpBytes);
    }
    const std::vector<std::byte> before = world.lane.copy();
    world.run(++sequence, now_s);
    millrace::check_table(world);
    if (!dies) continue;
    const millrace::LaneState& state = world.lane.state;
    MILLRACE_CHECK(state.undo.undo(0, sequence) == millrace::LaneUndoLog::Undone::kAll);
    MILLRACE_CHECK(std::ranges::equal(state.bytes, before));
  }
  return 0;
}
