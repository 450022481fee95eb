// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A stream that feeds several paths: which packet goes where, and how a next life goes on.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "shared/base/flow_key.hpp"
#include "tests/unit/io-worker/ingress/ingress_fixture.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

namespace millrace::test {
namespace {

/// `one` has lane 0, `two` lanes 3 to 6. Those between are of `other`, which the stream does not
/// feed.
const std::string kPaths =
    "millrace: 1\nname: in\nbatch: { capacity: 8 }\n"
    "ports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
    "paths:\n  one: { from: a, match: \"ether[5] & 3 = 1\" }\n"
    "  other: { from: b, lanes: 2 }\n"
    "  two: { from: a, match: \"ether[5] & 3 = 2\", lanes: 4 }\n";

/// A flow whose destination's last byte is `last`.
constexpr std::uint64_t flow(std::uint64_t last, std::uint64_t number = 0) {
  return last << 40 | number;
}

class PathsTest : public IngressFixture {
 protected:
  PathsTest() : IngressFixture(kPaths) {}
  /// What has left, by lane.
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_lane() {
    std::map<std::uint32_t, std::vector<std::uint64_t>> lanes;
    for (const Left& batch : left()) {
      auto& lane = lanes[batch.lane];
      lane.insert(lane.end(), batch.ordinals.begin(), batch.ordinals.end());
    }
    return lanes;
  }
};

TEST_F(PathsTest, TheFirstFilterThatMatchesTakesAPacket) {
  rx_.offer(2, flow(1));
  for (std::uint64_t i = 0; i < 40; ++i) rx_.offer(1, flow(2, i));
  rx_.offer(1, flow(5));
  rounds(8);
  const auto lanes = by_lane();
  EXPECT_EQ(lanes.at(0), (std::vector<std::uint64_t>{0, 1, 42}));
  std::size_t spread = 0;
  for (const auto& [lane, ordinals] : lanes) {
    EXPECT_TRUE(std::ranges::is_sorted(ordinals));
    if (lane != 0) spread += ordinals.size();
    EXPECT_TRUE(lane == 0 || (lane >= 3 && lane <= 6)) << lane;
  }
  EXPECT_EQ(spread, 40u);
  EXPECT_GE(lanes.size(), 4u);
}

TEST_F(PathsTest, APacketThatNoPathTakesIsDroppedInTheFirst) {
  rx_.offer(1, flow(1));
  rx_.offer(2, flow(3));
  rx_.offered.push_back({flow(3), true});
  rounds(1);
  const std::vector<Left> batches = left();
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_EQ(batches[0].lane, 0u);
  const Batch batch = world_.segment.batch(in_flight_.front());
  EXPECT_TRUE(batch.goes_on(0));
  for (const std::uint32_t packet : {1u, 2u, 3u}) EXPECT_FALSE(batch.goes_on(packet));
  EXPECT_EQ(batch.reason[1], static_cast<std::uint8_t>(Reason::kNoPath));
  EXPECT_EQ(batch.reason[3], static_cast<std::uint8_t>(Reason::kOversize));
}

TEST_F(PathsTest, ANextLifeGoesOnInTheLanesOfAllPaths) {
  for (std::uint64_t i = 0; i < 30; ++i) rx_.offer(1, flow(1 + i % 2, i));
  rounds(8);
  std::map<std::uint32_t, std::uint64_t> last;
  for (const Left& batch : left()) last[batch.lane] = batch.sequence;
  begin_life();
  EXPECT_EQ(rx_.resumed, 30u);
  release_all();
  for (std::uint64_t i = 0; i < 30; ++i) rx_.offer(1, flow(1 + i % 2, i));
  rounds(8);
  for (const Left& batch : left()) {
    EXPECT_EQ(batch.sequence, ++last[batch.lane]) << batch.lane;
    for (const std::uint64_t ordinal : batch.ordinals) EXPECT_GE(ordinal, 30u);
  }
}

}  // namespace
}  // namespace millrace::test
