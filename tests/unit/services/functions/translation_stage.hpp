// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/event_ring.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {

/// A stage of `flow` and a function that translates, of one lane: what tests of `nat` and `nat64`
/// share. A test calls use() first.
class TranslationStage : public testing::Test {
 protected:
  static constexpr std::uint8_t kLan = 0, kWan = 1;
  static constexpr int kFirstReason = 50;

  TranslationStage(const FunctionType& type, Settings settings, std::vector<PlanPort> ports)
      : ports_(std::move(ports)),
        type_(type),
        settings_(std::move(settings)),
        hits_(type_.traits.counter_count) {}

  /// State without a flow; `more` behind the settings that all tests have.
  void use(const Settings& more = {}) {
    const std::string name(type_.traits.type);
    plan_ = {.name = name, .type = name, .settings = settings_};
    plan_.settings.insert(plan_.settings.end(), more.begin(), more.end());
    flow_plan_ = {.name = "flow", .type = "flow", .settings = {{"max", flow_max_}}};
    memory_.clear();
    memory_.emplace_back(flow_type().traits.lane_needs({.settings = flow_plan_.settings}));
    memory_.emplace_back(type_.traits.lane_needs({.settings = plan_.settings}));
    states_ = {memory_[0].state, memory_[1].state};
    if (behind_ != nullptr) states_.emplace_back();
    start();
  }
  /// A worker that knows nothing.
  void start() {
    flow_ = flow_type().make({.function = flow_plan_, .ports = ports_});
    translation_ = type_.make({.function = plan_, .ports = ports_});
    std::vector<StageFunction> stage = {
        {.function = flow_.get(), .counters = {}, .reason_numbers = {40, 41}}, translates()};
    if (behind_ != nullptr) stage.push_back({.function = behind_, .number = 2});
    runner_ = std::make_unique<StageRunner>(stage);
  }
  /// The translation as a function of a stage: its first reason is kFirstReason.
  StageFunction translates() {
    StageFunction function{.function = translation_.get(), .counters = {hits_}, .number = 1};
    for (std::size_t i = 0; i < type_.traits.reasons.size(); ++i) {
      function.reason_numbers.push_back(static_cast<std::uint8_t>(kFirstReason + i));
    }
    return function;
  }
  /// arena_ holds what has become of the frames.
  void run(std::uint8_t port, const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    ++sequence_;
    for (const LaneState& state : states_) {
      if (!state.bytes.empty()) state.undo.begin(0, sequence_);
    }
    runner_->run(arena_.batch(), states_,
                 {.port_in = port, .now_ns = now_s_ * 1'000'000'000, .events = &events_.log});
  }
  /// The packet as it is now.
  Frame frame_at(std::uint32_t packet) const {
    const auto bytes = arena_.batch().bytes(packet);
    return {bytes.begin(), bytes.end()};
  }
  /// Of an enumeration of the translation's counters.
  template <typename Counter>
  std::uint64_t hits(Counter which) const {
    return hits_[static_cast<std::size_t>(which)];
  }

  const std::vector<PlanPort> ports_;
  const FunctionType type_;
  const Settings settings_;
  PlanFunction flow_plan_, plan_;
  std::vector<LaneMemory> memory_;  ///< of flow and the translation
  std::vector<LaneState> states_;   ///< one for each function of the stage
  std::vector<std::uint64_t> hits_;
  EventRingOfTest events_;
  std::unique_ptr<Function> flow_, translation_;
  Function* behind_ = nullptr;  ///< set before use(); so is flow_max_
  std::string flow_max_ = "100";
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t now_s_ = 1, sequence_ = 0;
};

}  // namespace millrace
