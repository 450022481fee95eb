// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/ids/ids.hpp"
#include "services/functions/stage_runner.hpp"
#include "services/functions/stream/tcp_streams.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {

/// `flow` and `ids` in one stage, and a client (10.1.2.3) that talks to a server.
class IdsStage : public testing::Test {
 protected:
  static constexpr int kPasses = -1, kByRule = 0, kConflict = 1, kFull = 2, kCostly = 3;
  static constexpr std::uint32_t kServer = 5000;  ///< its first number

  /// `rules`: of a file; their counters are in the order in which they count. `flows`: of `flow`.
  void use(const std::string& rules, const Settings& more = {}, const std::string& flows = "100") {
    plan_ = PlanFunction{.name = "ids", .type = "ids", .settings = more};
    plan_.settings.emplace_back("rules", folder_.write("own.rules", rules));
    plan_.image = folder_.path("ids.image");
    flow_plan_ = {.name = "flow", .type = "flow", .settings = {{"max", flows}}};
    memory_.clear();
    memory_.emplace_back(flow_type().traits.lane_needs({.settings = flow_plan_.settings}));
    memory_.emplace_back(ids_type().traits.lane_needs({.settings = plan_.settings}));
    states_ = {memory_[0].state, memory_[1].state};
    load();
  }
  /// Builds the image, and starts a worker.
  void load() {
    report_ = ids_type().build({.function = plan_, .ports = {}});
    start();
  }
  /// A worker that knows nothing.
  void start() {
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    ids_ = ids_type().make({.function = plan_, .ports = {}});
    hits_.resize(report_.counter_count);
    runner_ = std::make_unique<StageRunner>(std::vector<StageFunction>{
        {.function = flow_.get(), .counters = {}, .reason_numbers = {40, 41}},
        {.function = ids_.get(),
         .counters = {hits_, &tally_},
         .number = 1,
         .reason_numbers = {50, 51, 52, 53}}});
  }
  /// Their fates, all in one batch.
  std::vector<int> send(const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    ++sequence_;
    for (const LaneState& state : states_) state.undo.begin(0, sequence_);
    if (front_ != nullptr) front_->run(arena_.batch(), {});
    runner_->run(arena_.batch(), states_,
                 {.port_in = 0, .now_ns = now_s_ * 1'000'000'000, .events = events_});
    std::vector<int> fates;
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      const bool dropped = arena_.batch().is_dropped(i);
      fates.push_back(dropped ? arena_.batch().reason[i] - 50 : kPasses);
    }
    return fates;
  }
  int send(const Frame& frame) { return send(std::vector<Frame>{frame}).front(); }
  /// Data of either side; numbers go on behind what has passed.
  int client(std::string_view data, std::uint16_t port = 40'000) { return say(false, data, port); }
  int server(std::string_view data, std::uint16_t port = 40'000) { return say(true, data, port); }
  /// `cut`: bytes of each segment.
  std::vector<int> client_in_pieces(std::string_view data, std::size_t cut) {
    std::vector<int> fates;
    for (std::size_t at = 0; at < data.size(); at += cut) {
      fates.push_back(client(data.substr(at, cut)));
    }
    return fates;
  }
  void open(std::uint16_t port = 40'000) {
    sent_ = {};
    for (const Frame& frame : {segment(false, kSyn, first_, 0, {}, port),
                               segment(true, kSyn | kAck, kServer, first_ + 1, {}, port),
                               segment(false, kAck, first_ + 1, kServer + 1, {}, port)}) {
      ASSERT_EQ(send(frame), kPasses);
    }
  }
  void close(std::uint16_t port = 40'000) {
    send(segment(true, kRst | kAck, kServer + 1 + sent_[1], first_ + 1 + sent_[0], {}, port));
    first_ += 7777;
  }
  /// The worker dies with its batch, and another one takes its place.
  void die() {
    for (const LaneState& state : states_) {
      ASSERT_EQ(state.undo.undo(0, sequence_), LaneUndoLog::Undone::kAll);
    }
    start();
  }
  std::uint64_t hits(std::size_t rule) const { return hits_[rule]; }
  std::uint64_t hits(IdsCounter which) const {
    return hits_[report_.accepted + static_cast<std::size_t>(which)];
  }
  std::uint64_t hits(StreamCounter which) const {
    return hits_[report_.accepted + static_cast<std::size_t>(IdsCounter::kCount) +
                 static_cast<std::size_t>(which)];
  }
  std::uint64_t alerts() const { return tally_.alerts; }

  const MatchFolder folder_;
  PlanFunction flow_plan_, plan_;
  BuildReport report_;
  std::vector<LaneMemory> memory_;
  std::array<LaneState, 2> states_;
  std::vector<std::uint64_t> hits_;
  FunctionTally tally_{};
  std::unique_ptr<Function> flow_, ids_;
  std::unique_ptr<StageRunner> runner_;
  StageRunner* front_ = nullptr;  ///< a stage in front of it; null: there is none
  BatchArena arena_{kBatchCapacityDefault};
  EventLog* events_ = nullptr;  ///< where it tells; null: nowhere
  std::uint64_t sequence_ = 0, now_s_ = 1;
  std::uint32_t first_ = 1000;  ///< of the client's next connection
  std::array<std::uint32_t, 2> sent_{};

 private:
  int say(bool back, std::string_view data, std::uint16_t port) {
    const std::array<std::uint32_t, 2> first{first_ + 1, kServer + 1};
    const std::size_t own = back ? 1 : 0;
    const int fate = send(
        segment(back, kAck, first[own] + sent_[own], first[1 - own] + sent_[1 - own], data, port));
    if (fate == kPasses) sent_[own] += static_cast<std::uint32_t>(data.size());
    return fate;
  }
};

}  // namespace millrace
