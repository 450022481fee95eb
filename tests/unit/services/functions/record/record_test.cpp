// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/record/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "io-worker/ports/packet_maker.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/services/functions/batch_of_frames.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;

constexpr char kMagic[] = "MILLRACE";

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(value >> shift & 0xff));
  }
  return text;
}

Frame numbered(std::uint32_t stream, std::uint64_t number, std::string_view magic = kMagic) {
  const std::string payload = std::string(magic) + big_endian(stream, 4) + big_endian(7, 4) +
                              big_endian(number, 8) + big_endian(1, 8) + big_endian(2, 8);
  return FrameBuilder().ipv4(17, 8 + 40).udp(40).text(payload).build();
}

/// One lane's recorder: feeds batches and tells what it has counted.
class Lane {
 public:
  void see(const std::vector<Frame>& frames, std::vector<std::uint16_t> selected = {}) {
    const Batch batch = batch_of(arena_, frames);
    if (selected.empty()) {
      for (std::uint16_t i = 0; i < frames.size(); ++i) selected.push_back(i);
    }
    const std::vector<std::byte> before = snapshot(batch);
    std::ranges::fill(batch.results(0), 99u);
    function_->compute(batch, {selected}, batch.results(0));
    function_->finish({batch, {selected}, batch.results(0), {hits}, {state_}, {}});
    EXPECT_EQ(before, snapshot(batch)) << "record changes no packet and no verdict";
    for (const std::uint16_t packet : selected) EXPECT_EQ(batch.results(0)[packet], 0u);
  }
  std::vector<std::uint64_t> hits = std::vector<std::uint64_t>(kRecordCounterCount);
  RecordState state() const {
    RecordState copy;
    std::memcpy(&copy, state_.data(), sizeof copy);
    return copy;
  }

 private:
  PlanFunction plan_;
  std::unique_ptr<Function> function_ = record_type().make({.function = plan_, .ports = {}});
  std::vector<std::byte> state_ =
      std::vector<std::byte>(record_type().traits.lane_needs({.settings = {}}).state_bytes);
  BatchArena arena_{kBatchCapacityMax};
};

TEST(Record, CountsPacketsInOrderWithoutComplaint) {
  Lane lane;
  lane.see({numbered(0, 0), numbered(0, 1)});
  lane.see({numbered(0, 2), numbered(3, 900)});
  EXPECT_THAT(lane.hits, ElementsAre(4, 0, 0, 0));
  EXPECT_THAT(lane.state().counts, ElementsAre(4, 0, 0, 0));
  EXPECT_EQ(lane.state().expected[0], 3u);
  EXPECT_EQ(lane.state().expected[3], 901u);
}

TEST(Record, CountsRepeatedAndEarlierNumbersAsInversions) {
  Lane lane;
  lane.see({numbered(0, 5), numbered(0, 5), numbered(0, 4)});
  lane.see({numbered(0, 2), numbered(0, 3)});
  EXPECT_THAT(lane.hits, ElementsAre(5, 3, 0, 0));
}

TEST(Record, HoldsEachStreamAgainstItself) {
  Lane lane;
  lane.see({numbered(0, 100), numbered(1, 1), numbered(0, 101), numbered(1, 2), numbered(15, 0)});
  EXPECT_THAT(lane.hits, ElementsAre(5, 0, 0, 0));
}

TEST(Record, CountsTheNumbersLeftOut) {
  Lane lane;
  lane.see({numbered(0, 10), numbered(0, 15), numbered(0, 16)});
  EXPECT_THAT(lane.hits, ElementsAre(3, 0, 0, 4));
}

TEST(Record, CountsWhatCarriesNoNumber) {
  const Frame whole = numbered(0, 1);
  const Frame cut(whole.begin(), whole.begin() + 42 + 23);
  const Frame tcp = FrameBuilder().ipv4(6, 60).tcp(5).text(std::string(40, 'x')).build();
  const Frame later = FrameBuilder().ipv4(17, 8 + 40, 20, 2).text("12345678").text(kMagic).build();
  Lane lane;
  lane.see({numbered(16, 1), numbered(0, 1, "MILLRACF"), cut, tcp, later, Frame()});
  EXPECT_THAT(lane.hits, ElementsAre(6, 0, 6, 0));
}

TEST(Record, LooksOnlyAtSelectedPackets) {
  Lane lane;
  lane.see({numbered(0, 9), numbered(0, 1), numbered(0, 2)}, {1, 2});
  EXPECT_THAT(lane.hits, ElementsAre(2, 0, 0, 0));
}

TEST(Record, UnderstandsWhatTheGeneratorMakes) {
  GenerateSettings settings;
  settings.flows = 3;
  settings.sources = 1;
  settings.numbered = true;
  settings.sizes = {kNumberedSizeMin};
  settings.destinations = {{.address = 0x0a000000, .host_mask = 0x00ffffff}};
  PacketMaker maker(settings, {2, 0, 0, 0, 0, 1}, 5);
  std::vector<Frame> frames(20, Frame(kNumberedSizeMin));
  for (Frame& frame : frames) frame.resize(maker.make(frame.data(), 0));
  Lane lane;
  lane.see(frames);
  EXPECT_THAT(lane.hits, ElementsAre(20, 0, 0, 0));
  EXPECT_EQ(lane.state().expected[5], 20u);
  std::swap(frames[3], frames[4]);
  Lane other;
  other.see(frames);
  EXPECT_EQ(other.hits[1], 1u);
}

TEST(Record, AgreesWithASlowCountOnShuffledNumbers) {
  std::mt19937 random(5);
  Lane lane;
  std::map<std::uint32_t, std::uint64_t> last;
  std::uint64_t inversions = 0, skipped = 0;
  for (int batch = 0; batch < 200; ++batch) {
    std::vector<Frame> frames;
    for (int i = 0; i < 20; ++i) {
      const std::uint32_t stream = random() % 4;
      const std::uint64_t number = random() % 50;
      frames.push_back(numbered(stream, number));
      const auto before = last.find(stream);
      if (before != last.end() && number <= before->second) ++inversions;
      if (before != last.end() && number > before->second) skipped += number - before->second - 1;
      last[stream] = number;
    }
    lane.see(frames);
  }
  EXPECT_THAT(lane.hits, ElementsAre(4000, inversions, 0, skipped));
  EXPECT_GT(inversions, 1000u);
}

TEST(Record, IsStatefulAndHasNoTable) {
  const FunctionType type = record_type();
  EXPECT_TRUE(type.traits.stateful);
  EXPECT_FALSE(type.traits.runs_on_gpu);
  EXPECT_FALSE(type.traits.has_image);
  EXPECT_EQ(type.build, nullptr);
  EXPECT_EQ(type.traits.counter_count, kRecordCounterCount);
  PlanFunction plan;
  type.check(plan);
  plan.settings = {{"table", "x"}};
  EXPECT_THROW(type.check(plan), Error);
}

}  // namespace
}  // namespace millrace
