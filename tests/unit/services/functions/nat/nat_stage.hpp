// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/nat/nat.hpp"
#include "services/functions/nat/nat_address.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// A stage of `flow` and `nat`: hosts of 10.0.0.0/24 behind 203.0.113.1.

namespace millrace::nat_test {

inline constexpr std::uint8_t kLan = 0, kWan = 1;
inline constexpr std::uint32_t kHost = 0x0a000005, kOther = 0x0a000006, kServer = 0xc0000209,
                               kPublic = 0xcb007101, kFixed = 0xcb007105;

/// A packet of UDP; of TCP with SYN; or a question of ICMP (source_port) or its answer.
struct Sent {
  std::uint32_t source = kHost, destination = kServer;
  std::uint16_t source_port = 5000, destination_port = 53;
  std::uint8_t protocol = 17;
  std::uint16_t fragment = 0;
  bool answers = false;

  Frame frame() const {
    FrameBuilder builder;
    builder.ipv4(protocol, protocol == 6 ? 20 : 8, 20, fragment);
    if (protocol == 6) {
      builder.tcp(5, source_port, destination_port);
    } else {
      builder.udp(0, source_port, destination_port);
    }
    Frame bytes = builder.build();
    wire_bytes::put32(bytes, 26, source);
    wire_bytes::put32(bytes, 30, destination);
    if (protocol == 6) wire_bytes::put8(bytes, 47, 2);
    if (protocol == 1) {
      wire_bytes::put16(bytes, 34, answers ? 0 : 0x0800);
      wire_bytes::put16(bytes, 38, answers ? destination_port : source_port);
    }
    return bytes;
  }
};

/// A packet behind nat: its tuple, or why it was dropped.
struct Seen {
  std::optional<FlowTuple> tuple;
  Frame frame;
  int reason = -1;

  std::uint32_t source() const { return nat_address(tuple->source); }
  std::uint32_t destination() const { return nat_address(tuple->destination); }
  /// What answers it.
  Sent answered() const {
    return {.source = destination(),
            .destination = source(),
            .source_port = tuple->destination_port,
            .destination_port = tuple->source_port,
            .protocol = tuple->protocol,
            .answers = true};
  }
};

class NatTest : public testing::Test {
 protected:
  static constexpr int kFirstReason = 50;

  void use(const Settings& more = {}) {
    nat_plan_ = {.name = "nat",
                 .type = "nat",
                 .settings = {{"inside", "lan"}, {"pool", "203.0.113.1"}, {"max", "100"}}};
    nat_plan_.settings.insert(nat_plan_.settings.end(), more.begin(), more.end());
    flow_plan_ = {.name = "flow", .type = "flow", .settings = {{"max", "100"}}};
    memory_[0] = state_for(flow_type().traits, flow_plan_.settings, 0);
    memory_[1] = state_for(nat_type().traits, nat_plan_.settings, 1);
    start();
  }
  /// A worker that knows nothing.
  void start() {
    flow_ = flow_type().make({.function = flow_plan_, .ports = ports_});
    nat_ = nat_type().make({.function = nat_plan_, .ports = ports_});
    std::vector<StageFunction> stage = {
        {.function = flow_.get(), .counters = {}, .reason_numbers = {40, 41}},
        {.function = nat_.get(), .counters = {hits_}, .number = 1, .reason_numbers = {50, 51, 52}}};
    if (behind_ != nullptr) stage.push_back({.function = behind_, .number = 2});
    runner_ = std::make_unique<StageRunner>(stage);
  }
  std::vector<Seen> send_frames(std::uint8_t port, const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    ++sequence_;
    for (const LaneState& state : states_) state.undo.begin(0, sequence_);
    runner_->run(arena_.batch(), states_,
                 {.port_in = port, .now_ns = now_s_ * 1'000'000'000, .events = &events_.log});
    std::vector<Seen> all;
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      const auto bytes = arena_.batch().bytes(i);
      Seen seen{.tuple = flow_tuple_of(bytes, parse_headers(bytes)),
                .frame = Frame(bytes.begin(), bytes.end())};
      if (arena_.batch().is_dropped(i)) seen.reason = arena_.batch().reason[i] - kFirstReason;
      all.push_back(std::move(seen));
    }
    return all;
  }
  Seen send(std::uint8_t port, const Sent& packet) {
    return send_frames(port, {packet.frame()}).front();
  }
  /// Of translations, since the last call: "+ 10.0.0.5:5000 203.0.113.1:5000".
  std::vector<std::string> told() {
    std::vector<std::string> all;
    for (const EventRecord& record : events_.told()) {
      if (record.kind != EventKind::kTranslation) continue;
      const TranslationEvent& to = record.translation;
      const bool block = to.scope == TranslationScope::kBlock;
      const auto end = [](const std::array<std::uint8_t, 16>& address, std::uint16_t port) {
        std::string text;
        for (std::size_t i = 0; i < 4; ++i)
          text += (i == 0 ? "" : ".") + std::to_string(address[i]);
        return text + (port == 0 ? "" : ":" + std::to_string(port));
      };
      all.push_back((to.action == TranslationAction::kCreated ? "+ " : "- ") +
                    end(record.source, record.source_port) + " " + end(to.source, to.source_port) +
                    (block ? "-" + std::to_string(to.destination_port) : ""));
    }
    return all;
  }
  std::uint64_t hits(NatCounter which) const { return hits_[static_cast<std::size_t>(which)]; }

  std::optional<Mapping> state_for(const FunctionTraits& traits, const Settings& settings,
                                   std::size_t which) {
    const LaneNeeds needs = traits.lane_needs({.settings = settings});
    const std::uint64_t log = LaneUndoLog::bytes_for(needs.undo_lines);
    Mapping memory = Mapping::create_anonymous(needs.state_bytes + log);
    const std::span<std::byte> bytes(memory.base(), needs.state_bytes);
    states_[which] = {bytes,
                      LaneUndoLog({memory.base() + bytes.size(), log}, needs.undo_lines, bytes)};
    return memory;
  }

  const std::vector<PlanPort> ports_ = {{.name = "lan", .addresses = {"10.0.0.1/24"}},
                                        {.name = "wan", .addresses = {"203.0.113.254/24"}}};
  PlanFunction flow_plan_, nat_plan_;
  std::array<std::optional<Mapping>, 2> memory_;
  std::array<LaneState, 2> states_;
  std::array<std::uint64_t, static_cast<std::size_t>(NatCounter::kCount)> hits_{};
  EventRingOfTest events_;
  std::unique_ptr<Function> flow_, nat_;
  Function* behind_ = nullptr;  ///< set before use()
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t now_s_ = 1, sequence_ = 0;
};

}  // namespace millrace::nat_test
