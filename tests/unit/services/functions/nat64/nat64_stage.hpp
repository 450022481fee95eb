// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/nat64/nat64.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/services/functions/nat64/version_frames.hpp"

/// A stage of `flow` and `nat64`. Frames are those of nat64.golden; the host is given the port that
/// the table has, as the pool has no other one.

namespace millrace::nat64_test {

inline constexpr std::uint8_t kLan = 0, kWan = 1;

/// A frame behind nat64, and why it was dropped: its place in the reasons of nat64 (`malformed`
/// and other reasons of the core: kOther), or -1.
struct Seen {
  Frame frame;
  int reason = -1;
};
inline constexpr int kOther = -2;

class Nat64Test : public testing::Test {
 protected:
  static constexpr int kFirstReason = 50;

  void use(const Settings& more = {}) {
    nat64_plan_ = {
        .name = "nat64",
        .type = "nat64",
        .settings = {
            {"inside", "lan"}, {"pool", "203.0.113.1"}, {"ports", "1024-1024"}, {"block", "2"}}};
    nat64_plan_.settings.insert(nat64_plan_.settings.end(), more.begin(), more.end());
    flow_plan_ = {.name = "flow", .type = "flow", .settings = {{"max", "100"}}};
    memory_[0] = state_for(flow_type().traits, flow_plan_.settings, 0);
    memory_[1] = state_for(nat64_type().traits, nat64_plan_.settings, 1);
    start();
  }
  /// A worker that knows nothing.
  void start() {
    flow_ = flow_type().make({.function = flow_plan_, .ports = ports_});
    nat64_ = nat64_type().make({.function = nat64_plan_, .ports = ports_});
    std::vector<StageFunction> stage = {
        {.function = flow_.get(), .counters = {}, .reason_numbers = {40, 41}},
        {.function = nat64_.get(),
         .counters = {hits_},
         .number = 1,
         .reason_numbers = {50, 51, 52, 53, 54}}};
    if (behind_ != nullptr) stage.push_back({.function = behind_, .number = 2});
    runner_ = std::make_unique<StageRunner>(stage);
  }
  Seen send(std::uint8_t port, const Frame& frame) {
    arena_.clear();
    arena_.add(frame);
    ++sequence_;
    for (const LaneState& state : states_) state.undo.begin(0, sequence_);
    runner_->run(arena_.batch(), states_, {.port_in = port, .now_ns = now_s_ * 1'000'000'000});
    const auto bytes = arena_.batch().bytes(0);
    Seen seen{.frame = Frame(bytes.begin(), bytes.end())};
    if (!arena_.batch().is_dropped(0)) return seen;
    const int reason = arena_.batch().reason[0];
    seen.reason = reason < kFirstReason ? kOther : reason - kFirstReason;
    return seen;
  }
  Case named(std::string_view name) const {
    for (const Case& one : golden_cases()) {
      if (one.name == name) return one;
    }
    ADD_FAILURE() << "no case " << name;
    return {};
  }
  std::uint64_t hits(Nat64Counter which) const { return hits_[static_cast<std::size_t>(which)]; }

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

  const std::vector<PlanPort> ports_ = {{.name = "lan", .addresses = {"2001:db8:1::1/64"}},
                                        {.name = "wan", .addresses = {"192.0.2.1/24"}}};
  PlanFunction flow_plan_, nat64_plan_;
  std::array<std::optional<Mapping>, 2> memory_;
  std::array<LaneState, 2> states_;
  std::array<std::uint64_t, static_cast<std::size_t>(Nat64Counter::kCount)> hits_{};
  std::unique_ptr<Function> flow_, nat64_;
  Function* behind_ = nullptr;  ///< set before use()
  std::unique_ptr<StageRunner> runner_;
  BatchArena arena_{kBatchCapacityDefault};
  std::uint64_t now_s_ = 1, sequence_ = 0;
};

/// The same but for the identification of IPv4, which the worker draws, and what it changes.
inline Frame without_identification(Frame frame) {
  if (wire_bytes::u16(frame, 12) != 0x0800 || (wire_bytes::u16(frame, 20) & 0x4000) != 0) {
    return frame;
  }
  wire_bytes::put16(frame, 18, 0);
  wire_bytes::put16(frame, 24, 0);
  return frame;
}

}  // namespace millrace::nat64_test
