// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sequences of segments through `flow` and `inspect`: one host sends what it should not, in any
// order, in versions, cut and repeated; segments are lost behind; workers die. The other host is
// honest, and whichever version of a byte it takes, it does not deliver the word that a rule drops.
// No block is left when the connection has ended.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/inspect/inspect.hpp"
#include "services/functions/inspect/inspect_settings.hpp"
#include "services/functions/stage_runner.hpp"
#include "services/functions/stream/stream_lane.hpp"
#include "shared/base/check.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/stream/receiver.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr std::size_t kOpBytes = 6;
constexpr char kWord[] = "abcab";
constexpr std::array<std::uint32_t, 2> kFirst = {0xffff'fff0, 77};  // numbers, by direction

/// The image of the rules, once a process.
const PlanFunction& plan() {
  static const MatchFolder folder;
  static const PlanFunction made = [] {
    PlanFunction function = folder.plan(std::string("drop \"") + kWord + "\"\n");
    function.type = "inspect";
    function.settings.insert(function.settings.end(),
                             {{"streams", "2"}, {"memory_mb", "1"}, {"window_kb", "64"}});
    inspect_type().build({.function = function, .ports = {}});
    return function;
  }();
  return made;
}

/// One end of the connection: what it has of the other's stream, in both ways to take it.
struct End {
  bool begun = false;     ///< a SYN has come
  bool answered = false;  ///< behind that, something else
  std::array<Receiver, 2> receivers{Receiver(false), Receiver(true)};

  std::uint32_t acknowledges(std::uint8_t direction) const {
    return kFirst[direction] + 1 + static_cast<std::uint32_t>(receivers[0].delivered.size());
  }
  void take(std::uint8_t direction, std::span<const std::byte> frame) {
    const PacketHeaders headers = parse_headers(frame);
    const std::uint8_t flags = wire_bytes::u8(frame, kTcpAt + 13);
    MILLRACE_CHECK((flags & kUrg) == 0);  // with it, a byte of what follows would be none
    answered = answered || (begun && (flags & kSyn) == 0);
    if ((flags & kSyn) != 0) begun = true;
    const std::int32_t at = static_cast<std::int32_t>(
        wire_bytes::u32(frame, kTcpAt + 4) + ((flags & kSyn) != 0 ? 1 : 0) - kFirst[direction] - 1);
    if (!begun || headers.payload_end <= headers.payload_offset) return;
    const auto bytes = frame.subspan(headers.payload_offset,
                                     std::size_t{headers.payload_end} - headers.payload_offset);
    std::string_view data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (at < 0) {
      if (data.size() <= static_cast<std::size_t>(-at)) return;
      data.remove_prefix(static_cast<std::size_t>(-at));
    }
    for (Receiver& receiver : receivers) {
      receiver.take(static_cast<std::size_t>(std::max(at, 0)), data);
      MILLRACE_CHECK(receiver.delivered.find(kWord) == std::string::npos);
    }
  }
};

struct World {
  std::uint8_t liar = 0;  ///< the direction that is not honest
  PlanFunction flow_plan{
      .name = "flow", .type = "flow", .settings = {{"max", "4"}, {"pickup", "false"}}};
  std::unique_ptr<Function> flow = flow_type().make({.function = flow_plan, .ports = {}});
  std::unique_ptr<Function> inspect = inspect_type().make({.function = plan(), .ports = {}});
  LaneMemory of_flow{flow_type().traits.lane_needs({.settings = flow_plan.settings})};
  LaneMemory of_inspect{inspect_type().traits.lane_needs({.settings = plan().settings})};
  StageRunner runner{
      std::vector<StageFunction>{{.function = flow.get()}, {.function = inspect.get()}}};
  BatchArena arena{kBatchCapacityDefault};
  std::array<End, 2> ends;  ///< by the direction that it receives
  std::uint64_t now_s = 1, sequence = 0;

  void run() {
    const std::array<LaneState, 2> states{of_flow.state, of_inspect.state};
    ++sequence;
    for (const LaneState& state : states) state.undo.begin(0, sequence);
    runner.run(arena.batch(), states, {.port_in = 0, .now_ns = now_s * 1'000'000'000});
  }
};

/// `op`: what, direction and loss, place, length, letters, flags.
Frame frame_of(std::span<const std::uint8_t> op, const World& world) {
  const std::uint8_t direction = op[1] & 1, other = 1 - direction;
  const bool back = direction == 1, lies = direction == world.liar;
  const End &mine = world.ends[other], &peer = world.ends[direction];
  const std::uint32_t acknowledges = mine.acknowledges(other);
  const bool may_open = back ? mine.begun && !mine.answered : !mine.begun;
  if (op[0] % 8 == 0 && (lies || may_open)) {
    return segment(back, back ? kSyn | kAck : kSyn, kFirst[direction], back ? acknowledges : 0,
                   lies && op[5] % 4 == 0 ? "ab" : "");
  }
  const auto reached = static_cast<std::uint32_t>(peer.receivers[0].delivered.size());
  if (op[0] % 8 <= 1) {
    const bool is_urgent = lies && op[5] % 16 == 1;
    return segment(back, is_urgent ? kAck | kUrg : kAck, kFirst[direction] + 1 + reached,
                   acknowledges);
  }
  if (!lies) {
    return segment(back, kAck, kFirst[direction] + 1 + reached, acknowledges,
                   std::string(1 + op[3] % 24, 'c'));
  }
  std::string data;
  for (int i = 0; i <= op[3] % 24; ++i) data += kWord[(op[4] + i * (1 + op[4] / 64)) % 5];
  const std::uint32_t at = reached + op[2] % 64 - 16;
  const std::uint8_t flags =
      static_cast<std::uint8_t>(kAck | (op[5] % 16 == 1 ? kUrg : 0) | (op[5] % 16 == 2 ? kFin : 0));
  Frame frame = segment(back, flags, kFirst[direction] + 1 + at, acknowledges, data);
  if (op[5] % 32 == 3) frame[kTcpAt + 17] ^= std::byte{1};  // its receiver does not take it
  return frame;
}

void check_end(World& world) {
  for (int turn = 0; turn < 4; ++turn) {
    world.now_s += 1'000'000;
    world.arena.clear();
    world.arena.add(FrameBuilder().type(0x88b5).build());
    world.run();
  }
  const StreamLane lane(inspect_settings(plan().settings).room);
  const auto table = lane.laid_out(world.of_inspect.state);
  MILLRACE_CHECK(table && table->streams() == 0 && table->free_blocks() == table->all_blocks());
}

void run_all(std::span<const std::uint8_t> rest) {
  World world;
  if (!rest.empty()) {
    world.liar = rest[0] & 1;
    rest = rest.subspan(1);
  }
  while (rest.size() >= kOpBytes) {
    const bool dies = rest[5] / 32 == 7;
    std::vector<std::span<const std::uint8_t>> ops;
    world.arena.clear();
    for (int packets = rest[1] / 2 % 4; packets >= 0 && rest.size() >= kOpBytes; --packets) {
      ops.push_back(rest.first(kOpBytes));
      world.arena.add(frame_of(ops.back(), world));
      rest = rest.subspan(kOpBytes);
    }
    world.run();
    if (dies) {
      for (const LaneMemory* memory : {&world.of_flow, &world.of_inspect}) {
        MILLRACE_CHECK(memory->state.undo.undo(0, world.sequence) == LaneUndoLog::Undone::kAll);
      }
      continue;  // its packets are lost
    }
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      const bool lost = ops[i][1] / 8 % 4 == 0;
      if (world.arena.batch().is_dropped(i) || lost || ops[i][5] % 32 == 3) continue;
      const std::uint8_t direction = ops[i][1] & 1;
      world.ends[direction].take(direction, world.arena.batch().bytes(i));
    }
  }
  check_end(world);
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::run_all({data, size});
  return 0;
}
