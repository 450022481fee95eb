// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/flow_usual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/flow/flow_sort.hpp"
#include "services/functions/flow/flow_table.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/packet/wire_bytes.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

using Bytes = std::vector<std::byte>;
using wire_bytes::put16, wire_bytes::put32, wire_bytes::put8;

constexpr std::uint8_t kFin = 1, kSyn = 2, kReset = 4, kPush = 8, kAck = 16;
constexpr std::size_t kTagAt = 12, kTagBytes = 4;

/// Packets between a few hosts: of connections that mostly go as they should, so that windows and
/// states matter.
class Traffic {
 public:
  explicit Traffic(std::uint32_t seed) : random_(seed) {}

  bool one_of(std::uint32_t count) { return random_() % count == 0; }

  Bytes next() {
    Peer& peer = peers_[random_() % std::size(peers_)];
    Bytes frame = peer.protocol == 6 ? tcp(peer) : plain(peer);
    if (one_of(40)) spoil(frame);
    return frame;
  }

 private:
  struct Peer {
    std::uint8_t protocol;
    std::uint8_t host;
    std::uint32_t sent[2] = {1000, 5000};  ///< next number of each side
    std::uint32_t step = 0;
  };

  Bytes ip(const Peer& peer, std::uint32_t direction, std::size_t bytes) {
    Bytes frame(14 + 20 + bytes);
    put16(frame, 12, 0x0800);
    put8(frame, 14, 0x45);
    put16(frame, 16, static_cast<std::uint16_t>(20 + bytes));
    put16(frame, 20, one_of(60) ? 0x2000 : one_of(60) ? 3 : one_of(2) ? 0x4000 : 0);
    put8(frame, 23, peer.protocol);
    put32(frame, direction == 0 ? 26 : 30, 0x0a000000 + peer.host);
    put32(frame, direction == 0 ? 30 : 26, 0x0a000100);
    put16(frame, direction == 0 ? 34 : 36, 1000);
    put16(frame, direction == 0 ? 36 : 34, 53);
    return frame;
  }
  Bytes plain(Peer& peer) {
    const std::size_t data = random_() % 30;
    Bytes frame = ip(peer, random_() % 2, 8 + data);
    put16(frame, 38, static_cast<std::uint16_t>(8 + data));
    if (peer.protocol == 1) {
      put32(frame, 34, one_of(2) ? 0x0800'0000 : 0);
      put32(frame, 38, 0x0007'0001);
    }
    return frame;
  }
  /// SYN, SYN+ACK, then what connections consist of.
  Bytes tcp(Peer& peer) {
    const std::uint32_t step = peer.step++;
    const std::uint32_t direction = step == 0 ? 0 : step == 1 ? 1 : step == 2 ? 0 : random_() % 2;
    std::uint8_t flags = step == 0 ? kSyn : step == 1 ? kSyn | kAck : kAck;
    if (step > 2 && one_of(20)) flags |= kPush;
    if (step > 2 && one_of(25)) flags = kFin | kAck;
    if (step > 2 && one_of(50)) flags = one_of(2) ? kReset : kReset | kAck;
    if (step > 2 && one_of(50)) flags = kSyn;
    const bool data = step > 2 && (flags & kSyn) == 0 && one_of(2);
    const std::size_t bytes = data ? 1 + random_() % 400 : 0;
    const bool timestamps = one_of(3), other_options = one_of(10);
    const std::size_t header = timestamps || other_options ? 32 : 20;
    Bytes frame = ip(peer, direction, header + bytes);
    std::uint32_t& sent = peer.sent[direction];
    put32(frame, 38, one_of(15) ? sent + random_() % 100'000 - 50'000 : sent);
    const std::uint32_t acknowledged = peer.sent[1 - direction];
    put32(frame, 42, one_of(15) ? acknowledged + random_() % 200'000 - 100'000 : acknowledged);
    put8(frame, 46, static_cast<std::uint8_t>(header / 4 * 16));
    put8(frame, 47, flags);
    put16(frame, 48, static_cast<std::uint16_t>(one_of(10) ? random_() % 300 : 8192));
    if (timestamps) put32(frame, 54, 0x0101'080a);
    if (other_options) put32(frame, 54, one_of(2) ? 0x0303'0700 : 0x0101'050a);
    sent += static_cast<std::uint32_t>(bytes) + ((flags & (kSyn | kFin)) != 0 ? 1 : 0);
    if ((flags & kReset) != 0 && one_of(2)) peer.step = 0;
    return frame;
  }
  /// A header that says what is not so, or an end that is missing.
  void spoil(Bytes& frame) {
    const std::size_t at = 14 + random_() % (std::min<std::size_t>(frame.size(), 60) - 14);
    if (one_of(2)) {
      frame[at] = static_cast<std::byte>(random_());
    } else {
      frame.resize(at);
    }
  }

  std::mt19937 random_;
  Peer peers_[12] = {{6, 1},  {6, 2},  {6, 3},  {6, 4},  {6, 5},   {17, 1},
                     {17, 2}, {17, 3}, {17, 4}, {17, 5}, {136, 1}, {1, 1}};
};

/// The same packet with a VLAN tag: its flow is the same, and it is not usual.
Bytes tagged(Bytes frame) {
  if (frame.size() < kTagAt + 2) return frame;
  const std::byte tag[kTagBytes] = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{7}};
  frame.insert(frame.begin() + kTagAt, std::begin(tag), std::end(tag));
  return frame;
}

/// Behind `flow`: does with a packet what the test says, and writes down what it sees.
struct Behind final : Function {
  enum What : std::uint8_t { kNothing, kDrop, kForget, kTranslate, kTakeOut, kRenumber, kLast };

  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    seen.clear();
    lost.clear();
    for (std::uint16_t packet = 0; packet < call.batch.count; ++packet) {
      seen.push_back(call.flows->of(packet));
      lost.push_back(call.flows->has_lost_translation(packet) ? 1 : 0);
    }
    for (const std::uint16_t packet : call.selected.packets) act(call, packet);
  }
  void act(const FinishContext& call, std::uint16_t packet) const noexcept {
    const std::uint32_t flow = call.flows->of(packet).flow;
    if (what[packet] == kDrop) call.batch.drop(packet, Reason::kMalformed);
    if (flow == kNoFlow) return;
    if (what[packet] == kForget) call.flows->forget(flow);
    if (what[packet] == kTakeOut) call.flows->take_out(packet);
    if (what[packet] == kRenumber) call.flows->change_own(flow).renumbered = 1;
    if (what[packet] != kTranslate || !call.flows->is_new(flow)) return;
    FlowTuple answer = reversed(call.flows->tuple(flow, 0));
    answer.source_port = 54;
    static_cast<void>(call.flows->translate(flow, answer));
  }
  /// Of TCP alone: it shows whether it was asked.
  void renumber(const StateOfFunction&, const FlowTuple&, TcpSegment& segment) noexcept override {
    segment.acknowledgment += 10;
    segment.sack += 10;
  }
  std::vector<std::uint8_t> what;
  std::vector<PacketFlow> seen;
  std::vector<std::uint8_t> lost;  ///< has_lost_translation()
};

struct World {
  World() {
    // Both worlds hash with the same secret.
    const FlowTable with_secret(lane.state, 8, {1, 2});
    static_cast<void>(with_secret);
  }
  void run(const std::vector<Bytes>& frames, std::uint64_t sequence, std::uint64_t now_ms) {
    arena.clear();
    for (const Bytes& frame : frames) arena.add(frame);
    const std::array<LaneState, 2> states{lane.state, {}};
    states[0].undo.begin(0, sequence);
    runner.run(arena.batch(), states, {.port_in = 1, .now_ns = now_ms * 1'000'000});
  }
  std::vector<std::uint8_t> verdicts() const {
    const auto verdict = arena.batch().verdict;
    return {verdict.begin(), verdict.end()};
  }

  PlanFunction plan{.name = "flow",
                    .type = "flow",
                    .settings = {{"max", "8"}, {"udp", "3"}, {"invalid", "drop"}}};
  LaneMemory lane{flow_type().traits.lane_needs({.settings = plan.settings})};
  std::unique_ptr<Function> flow = flow_type().make({.function = plan, .ports = {}});
  std::array<std::uint64_t, static_cast<std::size_t>(FlowCounter::kCount)> hits{};
  Behind behind;
  StageRunner runner{std::vector<StageFunction>{
      {.function = flow.get(), .counters = {hits}, .reason_numbers = {40, 41}},
      {.function = &behind, .number = 1}}};
  BatchArena arena{kBatchCapacityDefault};
};

void expect_equal(const PacketFlow& one, const PacketFlow& other) {
  ASSERT_EQ(one.flow, other.flow);
  ASSERT_EQ(one.direction, other.direction);
  ASSERT_EQ(one.state, other.state);
  ASSERT_EQ(one.opens, other.opens);
  ASSERT_EQ(one.is_picked_up, other.is_picked_up);
  ASSERT_EQ(one.acknowledged, other.acknowledged);
}

/// The short way and the general one, packet by packet and byte by byte of the lane's state.
TEST(FlowUsual, GoesAsEveryOtherPacketOfItsFlow) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    Traffic traffic(seed);
    World usual, general;
    std::uint64_t now_ms = 1000;
    for (std::uint64_t sequence = 1; sequence <= 60; ++sequence) {
      now_ms += traffic.one_of(8) ? 3500 : traffic.one_of(2) ? 0 : 17;
      std::vector<Bytes> frames, with_tag;
      std::vector<std::uint8_t> what;
      for (int i = traffic.one_of(3) ? 1 : 30; i > 0; --i) {
        frames.push_back(traffic.next());
        with_tag.push_back(tagged(frames.back()));
        what.push_back(Behind::kNothing);
        for (std::uint8_t one = Behind::kDrop; one < Behind::kLast; ++one) {
          if (traffic.one_of(one == Behind::kTranslate ? 4 : 150)) what.back() = one;
        }
      }
      const std::vector<std::byte> before = usual.lane.copy();
      usual.behind.what = general.behind.what = what;
      usual.run(frames, sequence, now_ms);
      general.run(with_tag, sequence, now_ms);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", batch " << sequence);
      for (std::size_t i = 0; i < frames.size(); ++i) {
        SCOPED_TRACE(i);
        ASSERT_NO_FATAL_FAILURE(expect_equal(usual.behind.seen[i], general.behind.seen[i]));
      }
      ASSERT_EQ(usual.behind.lost, general.behind.lost);
      ASSERT_EQ(usual.verdicts(), general.verdicts());
      ASSERT_EQ(usual.hits, general.hits);
      ASSERT_EQ(usual.lane.copy(), general.lane.copy());
      if (!traffic.one_of(10)) continue;
      for (const World* const world : {&usual, &general}) {
        ASSERT_EQ(world->lane.state.undo.undo(0, sequence), LaneUndoLog::Undone::kAll);
        ASSERT_EQ(world->lane.copy(), before);
      }
    }
  }
}

/// What is said of a usual packet at once is what parsers say of any.
TEST(FlowUsual, IsWhatTheParsersSay) {
  Traffic traffic(9);
  std::uint32_t usual = 0, acks = 0;
  for (int i = 0; i < 50'000; ++i) {
    const Bytes frame = traffic.next();
    FlowTuple tuple;
    if (!usual_packet::find_tuple(frame, tuple)) continue;
    ++usual;
    const SortedPacket sorted = sort_packet(frame);
    ASSERT_EQ(sorted.kind, SortedPacket::Kind::kFlow);
    ASSERT_EQ(sorted.tuple, tuple);
    ASSERT_EQ(sorted.ip_bytes, usual_packet::ip_bytes(frame.data()));
    const PacketHeaders walked = parse_headers(frame);
    const PacketHeaders known = usual_packet::headers(frame.data());
    ASSERT_EQ(known.status, walked.status);
    ASSERT_EQ(known.vlan_tags, walked.vlan_tags);
    ASSERT_EQ(known.ip_version, walked.ip_version);
    ASSERT_EQ(known.protocol, walked.protocol);
    ASSERT_EQ(known.fragment, walked.fragment);
    ASSERT_EQ(known.first_fragment, walked.first_fragment);
    ASSERT_EQ(known.fragment_offset, walked.fragment_offset);
    ASSERT_EQ(known.ether_type, walked.ether_type);
    ASSERT_EQ(known.network_offset, walked.network_offset);
    ASSERT_EQ(known.transport_offset, walked.transport_offset);
    ASSERT_EQ(known.payload_offset, walked.payload_offset);
    ASSERT_EQ(known.payload_end, walked.payload_end);
    TcpSegment ack;
    if (tuple.protocol != 6 || !usual_packet::find_ack(frame.data(), ack)) continue;
    ++acks;
    const auto segment = parse_tcp_segment(std::span(frame).subspan(
        walked.transport_offset, walked.payload_end - std::size_t{walked.transport_offset}));
    ASSERT_TRUE(segment);
    ASSERT_EQ(ack.sequence, segment->sequence);
    ASSERT_EQ(ack.end, segment->end);
    ASSERT_EQ(ack.acknowledgment, segment->acknowledgment);
    ASSERT_EQ(ack.sack, segment->sack);
    ASSERT_EQ(ack.window, segment->window);
    ASSERT_EQ(ack.kind, segment->kind);
    ASSERT_EQ(ack.acknowledges, segment->acknowledges);
    ASSERT_EQ(ack.may_sack, segment->may_sack);
    ASSERT_EQ(ack.scale, segment->scale);
    ASSERT_EQ(ack.goes_on, segment->goes_on);
  }
  EXPECT_GT(usual, 35'000u);
  EXPECT_GT(acks, 8'000u);
}

/// Writes down which packets are usual, and makes one of another kind.
struct Looks final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    usual.clear();
    for (const std::uint16_t packet : call.selected.packets) {
      usual.push_back(call.flows->is_usual(packet));
    }
    if (changes) call.flows->note_renumbered(2);
    if (changes) call.flows->take_out(3);
  }
  bool changes = false;
  std::vector<bool> usual;
};

/// By the stage's functions in order: `flow`, one that changes two packets, one that may rewrite
/// what it likes (`rewrites`), and one behind them.
std::array<std::vector<bool>, 3> usual_in_stage(Rewrites rewrites) {
  const PlanFunction plan{.name = "flow", .type = "flow", .settings = {{"max", "8"}}};
  const LaneMemory lane{flow_type().traits.lane_needs({.settings = plan.settings})};
  const std::unique_ptr<Function> flow = flow_type().make({.function = plan, .ports = {}});
  std::array<Looks, 3> looks;
  looks[0].changes = true;
  StageRunner runner{
      std::vector<StageFunction>{{.function = flow.get(), .reason_numbers = {40, 41}},
                                 {.function = &looks[0], .number = 1},
                                 {.function = &looks[1], .number = 2, .rewrites = rewrites},
                                 {.function = &looks[2], .number = 3}}};
  Bytes frame(14 + 20 + 8);
  put16(frame, 12, 0x0800);
  put8(frame, 14, 0x45);
  put16(frame, 16, 28);
  put8(frame, 23, 17);
  put16(frame, 38, 8);
  BatchArena arena{kBatchCapacityDefault};
  arena.add(frame);
  arena.add(tagged(frame));
  arena.add(frame);
  arena.add(frame);
  const std::array<LaneState, 4> states{lane.state};
  states[0].undo.begin(0, 1);
  runner.run(arena.batch(), states, {.now_ns = 1'000'000'000});
  return {looks[0].usual, looks[1].usual, looks[2].usual};
}

TEST(FlowUsual, IsNoPacketThatAFunctionHasChanged) {
  using Usual = std::vector<bool>;
  const Usual all{true, false, true, true}, changed{true, false, false, false}, none(4, false);
  using Stage = std::array<Usual, 3>;
  EXPECT_EQ(usual_in_stage(Rewrites::kNone), (Stage{all, changed, changed}));
  EXPECT_EQ(usual_in_stage(Rewrites::kHeaders), (Stage{all, changed, none}));
  EXPECT_EQ(usual_in_stage(Rewrites::kAll), (Stage{all, changed, none}));
}

}  // namespace
}  // namespace millrace
