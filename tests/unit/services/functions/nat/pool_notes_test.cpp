// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/pool_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/services/functions/nat/nat_stage.hpp"

namespace millrace::nat_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PoolNotesTest : public NatTest {
 protected:
  /// Behind the time of all flows: the next packet finds them ended.
  void wait_for_ends() { now_s_ += 1000; }
};

TEST_F(PoolNotesTest, TellsOfMappingsOnceEach) {
  use({{"log", "mappings"}});
  send(kLan, {});
  EXPECT_THAT(told(), ElementsAre("+ 10.0.0.5:5000 203.0.113.1:5000"));
  send(kLan, {.destination = kServer + 1});
  EXPECT_THAT(told(), IsEmpty()) << "the same mapping";
  wait_for_ends();
  send(kLan, {.source = kOther, .source_port = 6000});
  EXPECT_THAT(told(),
              ElementsAre("- 10.0.0.5:5000 203.0.113.1:5000", "+ 10.0.0.6:6000 203.0.113.1:6000"));
}

TEST_F(PoolNotesTest, TellsOfBlocksOnceEach) {
  use({{"log", "blocks"}});
  send(kLan, {.source_port = 5000});
  EXPECT_THAT(told(), ElementsAre("+ 10.0.0.5 203.0.113.1:4992-5055"));
  send(kLan, {.source_port = 5001});
  EXPECT_THAT(told(), IsEmpty()) << "of the same block";
  wait_for_ends();
  send(kLan, {.source = kOther, .source_port = 6000});
  EXPECT_THAT(told(),
              ElementsAre("- 10.0.0.5 203.0.113.1:4992-5055", "+ 10.0.0.6 203.0.113.1:5952-6015"));
}

TEST_F(PoolNotesTest, ABlockEndsWhereThePortsOfThePoolEnd) {
  use({{"log", "blocks"}, {"ports", "5000-5010"}});
  send(kLan, {.source_port = 5003});
  EXPECT_THAT(told(), ElementsAre("+ 10.0.0.5 203.0.113.1:5000-5010"));
}

TEST(PoolNotes, AHostMayHaveAnIpv6Address) {
  EventRingOfTest ring;
  BatchArena arena(1);
  arena.add(Frame(60));
  const Batch batch = arena.batch();
  const FlowTuple tuple{.source = {0x20, 1}, .source_port = 5000, .protocol = 17, .version = 6};
  const PortPool::Opening opened{.what = PortPool::Opened::kDone,
                                 .address = kPublic,
                                 .port = 1024,
                                 .begins = true,
                                 .block = PortPool::Block{kPublic, 1024, 1087}};
  for (const NatLog wanted : {NatLog::kMappings, NatLog::kBlocks}) {
    const EventWriter events = ring.writer(batch);
    PoolNotes{wanted, events, {}}.opened(tuple, opened);
    const std::vector<EventRecord> told = ring.told();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].ip_version, 6);
    EXPECT_EQ(told[0].source, tuple.source);
    EXPECT_EQ(told[0].translation.ip_version, 4);
    EXPECT_EQ(told[0].translation.source_port, 1024);
  }
}

TEST_F(PoolNotesTest, CountsAndTellsNothingUnasked) {
  use();
  send(kLan, {});
  send(kLan, {.source_port = 5001});
  wait_for_ends();
  send(kLan, {.source = kOther, .source_port = 6000});
  EXPECT_THAT(told(), IsEmpty());
  const auto count = [&](PoolCounter counter) { return hits_[static_cast<std::size_t>(counter)]; };
  EXPECT_EQ(count(PoolCounter::kMappingsBegun), 3u);
  EXPECT_EQ(count(PoolCounter::kMappingsEnded), 2u);
  EXPECT_EQ(count(PoolCounter::kBlocksTaken), 2u);
  EXPECT_EQ(count(PoolCounter::kBlocksGivenBack), 1u);
}

}  // namespace
}  // namespace millrace::nat_test
