// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/acl/acl.hpp"
#include "services/functions/firewall/firewall.hpp"
#include "services/functions/flow/flow.hpp"
#include "services/functions/nat/revert_translation.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/base/packet.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/services/functions/firewall/firewall_folder.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {

inline constexpr std::uint8_t kLan = 0, kWan = 1;

inline Frame udp(unsigned from, unsigned to) {
  return FrameBuilder().ipv4(17, 8 + 4).udp(4, from, to).padding(4).build();
}
/// Of another host.
inline Frame udp_of(std::uint8_t host, unsigned from, unsigned to) {
  Frame frame = udp(from, to);
  frame[14 + 15] = std::byte{host};
  return frame;
}
inline Frame answer(const Frame& frame) { return reversed(frame, parse_headers(frame)); }

/// State of a lane with its log, zero.
class StageState {
 public:
  explicit StageState(const LaneNeeds& needs)
      : needs_(needs),
        memory_(Mapping::create_anonymous(needs.state_bytes +
                                          LaneUndoLog::bytes_for(needs.undo_lines))) {}
  LaneState state() const {
    const std::span<std::byte> bytes(memory_.base(), needs_.state_bytes);
    const std::span<std::byte> log(bytes.data() + bytes.size(),
                                   LaneUndoLog::bytes_for(needs_.undo_lines));
    return {bytes, LaneUndoLog(log, needs_.undo_lines, bytes)};
  }

 private:
  LaneNeeds needs_;
  Mapping memory_;
};

/// Drops all packets, or none; or gives them back what they have come with.
struct Wall final : Function {
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      if (reverts) static_cast<void>(revert_translation(call, packet));
      if (closed) call.batch.drop(packet, Reason::kMalformed);
    }
  }
  bool closed = false, reverts = false;
};

/// `flow`, `firewall` and a Wall, as in a stage of a worker.
class FirewallStage {
 public:
  /// `key`: the setting that names the file with `rules`.
  explicit FirewallStage(const std::string& rules, const Settings& more = {}, Settings of_flow = {},
                         std::string key = "rules")
      : key_(std::move(key)),
        more_(more),
        flow_plan_{.name = "flow", .type = "flow", .settings = with_max(std::move(of_flow))},
        of_flow_(flow_type().traits.lane_needs({.settings = flow_plan_.settings})),
        of_firewall_(firewall_type().traits.lane_needs({.settings = more})) {
    load(rules);
  }

  /// As a reload, or another worker: the lane's state stays.
  void load(const std::string& rules) {
    Settings settings = more_;
    settings.emplace_back(key_, folder_.write("edge.rules", rules));
    plan_ = firewall_plan(folder_, settings);
    const std::vector<PlanPort> ports = firewall_ports();
    report = firewall_type().build({.function = plan_, .ports = ports});
    hits.assign(report.counter_count, 0);
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    firewall_ = firewall_type().make({.function = plan_, .ports = ports});
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = flow_.get(), .counters = {flow_hits_}, .reason_numbers = {40, 41}},
        {.function = firewall_.get(),
         .counters = {hits},
         .number = 1,
         .reason_numbers = {kNumbers.begin(), kNumbers.end()}},
        {.function = &wall, .number = 2}});
  }

  /// One character a packet: '+' goes on, '-' is dropped, '<' has become an answer.
  std::string send(std::uint8_t port, const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    const std::array<LaneState, 3> states{of_flow_.state(), of_firewall_.state(), LaneState{}};
    ++sequence_;
    for (const LaneState& state : states) state.undo.begin(0, sequence_);
    const Batch batch = arena_.batch();
    runner_->run(batch, states, {.port_in = port, .now_ns = now_ns});
    std::string out;
    left.clear();
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const bool answers = !batch.goes_on(i) && batch.leaves(i) && batch.output[i] == port;
      out += batch.is_dropped(i) ? '-' : answers ? '<' : '+';
      left.emplace_back(batch.bytes(i).begin(), batch.bytes(i).end());
    }
    sent.clear();
    for (const SideRecord& record : batch.side.records()) {
      const std::span<const std::byte> bytes = batch.side.bytes_of(record);
      sent.emplace_back(bytes.begin(), bytes.end());
    }
    return out;
  }

  /// Connections in the table of `flow`.
  std::uint64_t flows() const {
    const auto of = [&](FlowCounter one) { return flow_hits_[static_cast<std::size_t>(one)]; };
    return of(FlowCounter::kBegun) - of(FlowCounter::kEnded);
  }

  /// As recovery behind a worker that died in the last batch.
  bool take_back() {
    return of_flow_.state().undo.undo(0, sequence_) == LaneUndoLog::Undone::kAll &&
           of_firewall_.state().undo.undo(0, sequence_) == LaneUndoLog::Undone::kAll;
  }

  LaneState state() const { return of_firewall_.state(); }

  BuildReport report;
  std::vector<std::uint64_t> hits;
  std::uint64_t now_ns = 1'000'000'000;
  Wall wall;
  // Of the last batch:
  std::vector<Frame> left;  ///< its packets, as they are behind it
  std::vector<Frame> sent;  ///< frames of the side list

 private:
  static constexpr std::array<std::uint8_t, 1> kNumbers = {57};
  static Settings with_max(Settings settings) {
    settings.emplace_back("max", "100");
    return settings;
  }

  AclFolder folder_;
  std::string key_;
  Settings more_;
  PlanFunction plan_, flow_plan_;
  StageState of_flow_, of_firewall_;
  std::array<std::uint64_t, static_cast<std::size_t>(FlowCounter::kCount)> flow_hits_{};
  std::unique_ptr<Function> flow_, firewall_;
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t sequence_ = 0;
};

}  // namespace millrace
