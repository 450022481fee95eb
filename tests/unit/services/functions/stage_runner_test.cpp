// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stage_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/services/functions/match/match_fixture.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Result: a hash of the frame behind its MAC addresses. finish decides fates, sets classes and
/// outputs and keeps state by it, and writes a byte that no compute reads.
class ToyFunction final : public FunctionInParts {
 public:
  ToyFunction(std::uint32_t seed, std::uint32_t class_mask)
      : seed_(seed), class_mask_(class_mask) {}

  void compute(const Batch& batch, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    computed += selected.packets.size();
    for (const std::uint16_t packet : selected.packets) {
      std::uint32_t word = seed_;
      for (std::byte byte : batch.bytes(packet).subspan(12)) {
        word = (word ^ std::to_integer<std::uint32_t>(byte)) * 0x01000193u;
      }
      results[packet] = word >> 8;
    }
  }
  void finish_part(const FinishContext& part, const Frames& frames) noexcept override {
    for (std::size_t i = 0; i < part.selected.packets.size(); ++i) {
      EXPECT_EQ(frames[i], part.batch.data(part.selected.packets[i]));
    }
    finish(part);
  }
  void finish(const FinishContext& call) noexcept override {
    const Batch& batch = call.batch;
    const LaneState& state = call.state;
    for (const std::uint16_t packet : call.selected.packets) {
      const std::uint32_t word = call.results[packet];
      ++call.counters.hits[word % call.counters.hits.size()];
      if (word % 5 == 0) batch.drop(packet, Reason::kOverload);
      if (word % 11 == 1) batch.consume(packet, Reason::kControl);
      if (word % 11 == 2) batch.finish(packet, 1, Reason::kReply);
      if (word % 3 == 0) batch.classes[packet] |= class_mask_ & (word >> 3);
      batch.output[packet] = static_cast<std::uint8_t>(word);
      batch.data(packet)[0] = std::byte(word);
      std::uint64_t sum = 0;
      std::memcpy(&sum, state.bytes.data(), sizeof sum);
      sum = sum * 31 + word;  // the order of packets matters
      std::memcpy(state.bytes.data(), &sum, sizeof sum);
    }
  }
  std::uint64_t computed = 0;

 private:
  std::uint32_t seed_, class_mask_;
};

/// A stage with all that it works on, so that two can be compared.
struct Stage {
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::vector<std::uint64_t>> hits;
  std::vector<std::array<std::byte, 8>> memory;
  std::vector<StageFunction> rows;
  std::vector<LaneState> states;
  BatchArena arena{kBatchCapacityDefault};

  void add(std::unique_ptr<Function> function, std::uint32_t when, std::uint32_t sets,
           std::size_t counters) {
    static constexpr Region kRegions[] = {{Region::Start::kNetwork, 20},
                                          {Region::Start::kPayload, kWholePacket}};
    rows.push_back({.function = function.get(),
                    .when_class = when,
                    .class_mask = sets,
                    .regions = kRegions,
                    .counters = {}});
    functions.push_back(std::move(function));
    hits.emplace_back(counters);
    memory.push_back({});
  }
  StageRunner runner() {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].counters.hits = hits[i];
      states.push_back({memory[i]});
    }
    return StageRunner(rows);
  }
};

Stage random_stage(std::uint32_t seed, const PlanFunction& match) {
  std::mt19937 random(seed);
  Stage stage;
  const std::uint32_t count = 1 + random() % 4;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t when = random() % 2 == 0 ? 0 : random() % 16;
    if (random() % 3 == 0) {
      stage.add(make(match), when, match.class_mask, 4);
    } else {
      const std::uint32_t sets = random() % 16;
      stage.add(std::make_unique<ToyFunction>(random(), sets), when, sets, 7);
    }
  }
  return stage;
}

std::vector<Frame> random_frames(std::mt19937& random) {
  std::vector<Frame> frames;
  while (frames.size() < 1 + random() % kBatchCapacityDefault) {
    Frame frame = random_frame(random);
    frame.resize(std::max<std::size_t>(frame.size(), 14));
    frames.push_back(std::move(frame));
  }
  return frames;
}

/// As earlier stages have left it: some dropped, some with classes.
void put_entry_state(const Batch& batch, std::mt19937 random) {
  for (std::uint32_t packet = 0; packet < batch.count; ++packet) {
    if (random() % 6 == 0) batch.drop(packet, Reason::kNoPath);
    batch.classes[packet] = random() % 3 == 0 ? random() % 16 : 0;
  }
}

TEST(StageRunner, EndsTheSameWholeAndSplit) {
  const MatchFolder folder;
  const PlanFunction match =
      folder.plan("drop \"|00 00 01|\"\nclass a \"|01|\"\nalert \"|00|\"", {"a"}, 2);
  build(match);
  std::mt19937 random(21);
  std::uint64_t dropped = 0, classed = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Stage whole = random_stage(seed, match), split = random_stage(seed, match);
    StageRunner whole_runner = whole.runner(), split_runner = split.runner();
    for (int batches = 0; batches < 3; ++batches) {
      const std::vector<Frame> frames = random_frames(random);
      const Batch one = batch_of(whole.arena, frames), other = batch_of(split.arena, frames);
      put_entry_state(one, random);
      put_entry_state(other, random);
      whole_runner.run(one, whole.states);

      std::vector<std::uint32_t> results(kStageFunctionCountMax * other.capacity);
      const std::vector<std::byte> before = snapshot(other);
      split_runner.run_compute(other, results);
      ASSERT_EQ(before, snapshot(other)) << "the first half writes only results";
      split_runner.run_compute(other, results);  // a worker died: again
      split_runner.run_finish(other, results, split.states);

      ASSERT_EQ(snapshot(one), snapshot(other)) << seed;
      ASSERT_EQ(whole.hits, split.hits) << seed;
      ASSERT_EQ(whole.memory, split.memory) << seed;
      for (std::uint32_t packet = 0; packet < one.count; ++packet) {
        dropped += one.goes_on(packet) ? 0 : 1;
        classed += one.classes[packet] != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(dropped, 1000u);
  EXPECT_GT(classed, 1000u);
}

/// Drops the packets whose number is in a mask, or gives them a class; keeps what it was shown.
class Scripted final : public Function {
 public:
  Scripted(std::uint32_t drops, std::uint32_t classes) : drops_(drops), classes_(classes) {}
  void compute(const Batch&, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    computed.assign(selected.packets.begin(), selected.packets.end());
    for (const std::uint16_t packet : selected.packets) results[packet] = 100u + packet;
  }
  void finish(const FinishContext& call) noexcept override {
    finished.assign(call.selected.packets.begin(), call.selected.packets.end());
    for (const std::uint16_t packet : call.selected.packets) {
      EXPECT_EQ(call.results[packet], 100u + packet);
      if ((drops_ >> packet & 1) != 0) call.batch.drop(packet, Reason::kOverload);
      if ((classes_ >> packet & 1) != 0) call.batch.classes[packet] |= 1;
    }
  }
  std::vector<std::uint16_t> computed, finished;

 private:
  std::uint32_t drops_, classes_;
};

struct TwoFunctions {
  Scripted first{0b0001, 0b0110}, second{0, 0};
  BatchArena arena;
  Batch batch = batch_of(arena, std::vector<Frame>(5, Frame(60)));
  StageRunner runner{
      {{.function = &first, .class_mask = 1}, {.function = &second, .when_class = 1}}};
  TwoFunctions() { batch.drop(4, Reason::kNoPath); }
};

TEST(StageRunner, ShowsALaterFunctionOnlyWhatPassesAndHasItsClass) {
  TwoFunctions stage;
  stage.runner.run(stage.batch, {});
  EXPECT_THAT(stage.first.computed, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(stage.second.computed, ElementsAre(1, 2));
  EXPECT_THAT(stage.second.finished, ElementsAre(1, 2));
}

/// Drops each packet for a reason of its own, those of even numbers for the same one.
class Reasoned final : public Function {
 public:
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      if (packet == 0) continue;
      call.batch.drop(packet, packet % 2 == 0 ? Reason::kNoPath : Reason::kMalformed);
    }
  }
};

TEST(StageRunner, CountsDropsByTheirReasonsForWhoGaveThem) {
  Reasoned several;
  Scripted one{0b0011, 0};
  DropTally by_several{}, by_one{};
  StageRunner runner({{.function = &one, .drops_for = Reason::kOverload, .drops = &by_one},
                      {.function = &several, .drops = &by_several}});
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>(6, Frame(60)));
  batch.drop(5, Reason::kMalformed);  // by an earlier stage
  const auto count = [](const DropTally& tally, Reason reason) {
    return tally.dropped[static_cast<std::size_t>(reason)];
  };
  runner.run(batch, {});
  EXPECT_EQ(count(by_one, Reason::kOverload), 2u);
  EXPECT_EQ(count(by_several, Reason::kNoPath), 2u);
  EXPECT_EQ(count(by_several, Reason::kMalformed), 1u);
  EXPECT_EQ(count(by_several, Reason::kOverload), 0u);
  EXPECT_EQ(fates_in(batch).dropped, 6u);
}

/// Drops packets 0, 1, ... for the first, second, ... reason that it declares.
class Declaring final : public Function {
 public:
  enum class Own : std::uint8_t {};
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override {}
  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      call.batch.drop(packet, call.reason(Own(packet)));
    }
  }
};

TEST(StageRunner, TellsEachFunctionTheNumbersOfItsReasons) {
  Declaring one, other;
  StageRunner runner({{.function = &one, .when_class = 1, .reason_numbers = {41, 3}},
                      {.function = &other, .reason_numbers = {50}}});
  for (const bool in_halves : {false, true}) {
    BatchArena arena;
    const Batch batch = batch_of(arena, std::vector<Frame>(3, Frame(60)));
    batch.classes[1] = 1;
    std::vector<std::uint32_t> results(2 * batch.capacity);
    if (in_halves) {
      runner.run_finish(batch, results, {});
    } else {
      runner.run(batch, {});
    }
    EXPECT_EQ(batch.reason[0], 50);
    EXPECT_EQ(batch.reason[1], 3);
    EXPECT_EQ(batch.reason[2], static_cast<std::uint8_t>(Reason::kUnavailable)) << "undeclared";
  }
}

TEST(StageRunner, CountsWhatAFunctionOutOfServiceDropsAsItsOwn) {
  Scripted first{0, 0};
  DropTally drops{};
  const std::atomic<std::uint64_t> out{1};
  StageRunner runner({{.function = &first, .drops = &drops}}, {nullptr, &out});
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>(3, Frame(60)));
  runner.run(batch, {});
  EXPECT_EQ(drops.dropped[static_cast<std::size_t>(Reason::kUnavailable)], 3u);
}

TEST(StageRunner, ComputesOnADeviceWhateverMayYetBeWanted) {
  TwoFunctions stage;
  std::vector<std::uint32_t> results(2 * stage.batch.capacity);
  stage.runner.run_compute(stage.batch, results);
  EXPECT_THAT(stage.second.computed, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(results[stage.batch.capacity + 3], 103u);
  EXPECT_THAT(stage.first.finished, IsEmpty());
  stage.runner.run_finish(stage.batch, results, {});
  EXPECT_THAT(stage.second.finished, ElementsAre(1, 2));
}

TEST(StageRunner, TrustsAClassThatNoEarlierFunctionSets) {
  Scripted first{0, 0}, second{0, 0};
  StageRunner runner(
      {{.function = &first, .class_mask = 2}, {.function = &second, .when_class = 1}});
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>(3, Frame(60)));
  batch.classes[1] = 1;
  std::vector<std::uint32_t> results(2 * batch.capacity);
  runner.run_compute(batch, results);
  EXPECT_THAT(second.computed, ElementsAre(1));
}

TEST(StageRunner, DoesNotCallAFunctionForNoPacket) {
  TwoFunctions stage;
  stage.first.computed = stage.second.computed = {77};
  for (std::uint32_t packet = 0; packet < stage.batch.count; ++packet) {
    stage.batch.drop(packet, Reason::kNoPath);
  }
  stage.runner.run(stage.batch, {});
  EXPECT_THAT(stage.first.computed, ElementsAre(77));
  EXPECT_THAT(stage.second.computed, ElementsAre(77));
}

/// Notes which function the runner says to be in while it computes.
class Watching final : public Function {
 public:
  explicit Watching(const std::atomic<std::uint32_t>& running) : running_(running) {}
  void compute(const Batch&, Selection, std::span<std::uint32_t>) noexcept override { note(); }
  void finish(const FinishContext&) noexcept override { note(); }
  std::vector<std::uint32_t> seen;

 private:
  void note() { seen.push_back(running_); }
  const std::atomic<std::uint32_t>& running_;
};

TEST(StageRunner, SaysWhoseCodeRuns) {
  std::atomic<std::uint32_t> running{0};
  const std::atomic<std::uint64_t> out{0};
  Watching one(running), two(running);
  StageRunner runner({{.function = &one, .number = 4}, {.function = &two, .number = 2}},
                     {&running, &out});
  BatchArena arena;
  const Batch batch = batch_of(arena, std::vector<Frame>(3, Frame(60)));
  runner.run(batch, {});
  EXPECT_THAT(one.seen, ElementsAre(5, 5));
  EXPECT_THAT(two.seen, ElementsAre(3, 3));
  EXPECT_EQ(running, 0U);
}

TEST(StageRunner, GoesPastAFunctionThatIsOut) {
  std::atomic<std::uint32_t> running{0};
  std::atomic<std::uint64_t> out{1u << 4};
  Watching one(running), two(running);
  std::uint64_t skipped = 0;
  for (const Fallback fate : {Fallback::kPass, Fallback::kDrop}) {
    StageRunner runner({{.function = &one, .number = 4, .when_out = fate, .skipped = &skipped},
                        {.function = &two, .number = 2}},
                       {&running, &out});
    BatchArena arena;
    const Batch batch = batch_of(arena, std::vector<Frame>(3, Frame(60)));
    two.seen.clear();
    runner.run(batch, {});
    EXPECT_THAT(one.seen, IsEmpty());
    EXPECT_EQ(two.seen.size(), fate == Fallback::kPass ? 2U : 0U);
    EXPECT_EQ(batch.goes_on(0), fate == Fallback::kPass);
    if (fate == Fallback::kDrop) {
      EXPECT_EQ(batch.reason[0], static_cast<std::uint8_t>(Reason::kUnavailable));
    }
    runner.run_finish(batch, std::vector<std::uint32_t>(2 * batch.capacity), {});
    EXPECT_THAT(one.seen, IsEmpty()) << "what a device computed for it is left alone";
  }
  EXPECT_EQ(skipped, 9U);
}

TEST(StageRunnerDeathTest, RefusesAStageWithoutFunctionsAndOneWithTooMany) {
  EXPECT_DEATH(StageRunner({}), "CHECK");
  Scripted function{0, 0};
  EXPECT_DEATH(
      StageRunner(std::vector<StageFunction>(kStageFunctionCountMax + 1, {.function = &function})),
      "CHECK");
}

TEST(StageRunnerDeathTest, RefusesAResultAreaThatIsTooSmall) {
  TwoFunctions stage;
  std::vector<std::uint32_t> results(2 * stage.batch.capacity - 1);
  EXPECT_DEATH(stage.runner.run_compute(stage.batch, results), "CHECK");
}

}  // namespace
}  // namespace millrace
