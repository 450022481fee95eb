// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The stage `flow`, `inspect` beside `flow` alone and beside a bare scan of the same payloads by
// Vectorscan, in one run: bytes of payload a second, by the number of rules. 64 connections send a
// segment of 1,460 bytes in each batch; in every other one the servers acknowledge. Payloads are
// random letters that hold no whole literal. The caller's own work, new numbers and checksums of 64
// segments, is part of both stages.

#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "services/functions/flow/flow.hpp"
#include "services/functions/inspect/inspect.hpp"
#include "services/functions/match/scanner.hpp"
#include "services/functions/stage_runner.hpp"
#include "shared/layout/batch_arena.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/services/functions/stream/tcp_frames.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kConnections = kBatchCapacityDefault, kBytes = 1460;
constexpr std::uint32_t kFirst = 100;

std::string letters(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, 'a');
  for (char& byte : text) byte = static_cast<char>('a' + random() % 26);
  return text;
}

std::string rules_of(std::size_t count) {
  std::mt19937 random(3);
  std::string rules;
  for (std::size_t i = 0; i < count; ++i) rules += "drop \"" + letters(random, 6 + i % 18) + "\"\n";
  return rules;
}

/// Connections through `flow` and, perhaps, `inspect`.
class Stage {
 public:
  Stage(const MatchFolder& folder, std::size_t rules, bool inspects)
      : plan_(folder.plan(rules_of(rules))) {
    plan_.type = "inspect";
    const std::uint32_t counters =
        inspect_type().build({.function = plan_, .ports = {}}).counter_count;
    hits_.resize(counters);
    flow_ = flow_type().make({.function = flow_plan_, .ports = {}});
    inspect_ = inspect_type().make({.function = plan_, .ports = {}});
    std::vector<StageFunction> stage{{.function = flow_.get()}};
    if (inspects) stage.push_back({.function = inspect_.get(), .counters = {hits_}, .number = 1});
    runner_ = std::make_unique<StageRunner>(stage);
    std::mt19937 random(5);
    for (std::uint16_t i = 0; i < kConnections; ++i) {
      const auto port = static_cast<std::uint16_t>(10'000 + i);
      run_one(segment(false, kSyn, kFirst, 0, {}, port));
      run_one(segment(true, kSyn | kAck, kFirst, kFirst + 1, {}, port));
      run_one(segment(false, kAck, kFirst + 1, kFirst + 1, {}, port));
      data_.push_back(segment(false, kAck, kFirst + 1, kFirst + 1, letters(random, kBytes), port));
      answers_.push_back(segment(true, kAck, kFirst + 1, kFirst + 1, {}, port));
    }
  }
  /// Returns false if a packet was dropped.
  bool round() {
    run(data_);
    const bool passes = fates_in(arena_.batch()).dropped == 0;
    for (Frame& frame : data_) add_to_number(frame, 4, kBytes);
    for (Frame& frame : answers_) add_to_number(frame, 8, kBytes);
    if (++rounds_ % 2 == 0) run(answers_);
    return passes;
  }

 private:
  void run_one(const Frame& frame) { run({frame}); }
  void run(const std::vector<Frame>& frames) {
    arena_.clear();
    for (const Frame& frame : frames) arena_.add(frame);
    const std::array<LaneState, 2> states{of_flow_.state, of_inspect_.state};
    ++sequence_;
    for (const LaneState& state : states) state.undo.begin(0, sequence_);
    runner_->run(arena_.batch(), states, {.port_in = 0, .now_ns = 1'000'000'000});
  }

  PlanFunction flow_plan_{.name = "flow", .type = "flow", .settings = {{"max", "1000"}}};
  PlanFunction plan_;
  std::vector<std::uint64_t> hits_;
  LaneMemory of_flow_{flow_type().traits.lane_needs({.settings = flow_plan_.settings})};
  LaneMemory of_inspect_{inspect_type().traits.lane_needs({.settings = {}})};
  std::unique_ptr<Function> flow_, inspect_;
  std::unique_ptr<StageRunner> runner_;
  std::vector<Frame> data_, answers_;
  BatchArena arena_{kConnections};
  std::uint64_t sequence_ = 0, rounds_ = 0;
};

void stage(benchmark::State& state, bool inspects) {
  const MatchFolder folder;
  Stage made(folder, static_cast<std::size_t>(state.range(0)), inspects);
  for (auto _ : state) {
    if (!made.round()) state.SkipWithError("a packet was dropped");
  }
  state.SetItemsProcessed(state.iterations() * kConnections);
  state.SetBytesProcessed(state.iterations() * kConnections * kBytes);
}
void flow_alone(benchmark::State& state) { stage(state, false); }
void flow_and_inspect(benchmark::State& state) { stage(state, true); }

void bare_scan(benchmark::State& state) {
  const MatchFolder folder;
  const PlanFunction plan = folder.plan(rules_of(static_cast<std::size_t>(state.range(0))));
  build(plan);
  const MatchImage image(plan.image);
  const MatchScanner scanner(image);
  std::mt19937 random(5);
  std::vector<Frame> frames;
  for (std::uint32_t i = 0; i < kConnections; ++i) {
    frames.push_back(segment(false, kAck, 1, 1, letters(random, kBytes)));
  }
  for (auto _ : state) {
    for (const Frame& frame : frames) benchmark::DoNotOptimize(scanner.strongest_rule(frame));
  }
  state.SetItemsProcessed(state.iterations() * kConnections);
  state.SetBytesProcessed(state.iterations() * kConnections * kBytes);
}

BENCHMARK(bare_scan)->Arg(1)->Arg(100)->Arg(4000)->ArgName("rules");
BENCHMARK(flow_and_inspect)->Arg(1)->Arg(100)->Arg(4000)->ArgName("rules");
BENCHMARK(flow_alone)->Arg(1)->ArgName("rules");

}  // namespace
}  // namespace millrace

BENCHMARK_MAIN();
