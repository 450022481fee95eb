// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/drain_word.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/base/clock.hpp"
#include "tests/unit/support/small_world.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DrainWordTest : public testing::Test {
 protected:
  DrainWordTest()
      : world_(
            "millrace: 1\nname: drain\nports: { a: { device: \"null\" }, b: { device: \"null\" } }"
            "\npaths: { one: { from: [a, b], run: [] } }\n"),
        word_(world_.plan, world_.status) {
    world_.start_all();
    for (const char* name : {"ingress.a.0", "ingress.b.0"}) {
      world_.entry(name).exhausted = 1;
      world_.entry(name).heartbeat_tsc = tsc_now();
    }
    word_.set(true);
  }
  void beat(const char* name) { world_.entry(name).heartbeat_tsc = tsc_now(); }

  test::SmallWorld world_;
  DrainWord word_;
};

TEST_F(DrainWordTest, StandsInTheStatusFile) {
  EXPECT_TRUE(word_.is_set());
  EXPECT_EQ(world_.status.header().drained, 1u);
  word_.set(false);
  EXPECT_FALSE(word_.is_set());
  EXPECT_EQ(world_.status.header().drained, 0u);
}

TEST_F(DrainWordTest, CutsLoopsOnceAndOnlyWhileDrained) {
  EXPECT_TRUE(word_.cut_loops());
  EXPECT_EQ(world_.status.header().drained, kLoopsCut);
  EXPECT_TRUE(word_.is_set());
  EXPECT_FALSE(word_.cut_loops());
  word_.set(false);
  EXPECT_FALSE(word_.cut_loops());
  EXPECT_EQ(world_.status.header().drained, 0u) << "undrained by another command";
}

TEST_F(DrainWordTest, WaitsForARoundThatBeganAfterIt) {
  EXPECT_THAT(word_.still_reading(), ElementsAre("ingress.a.0", "ingress.b.0"))
      << "a round that began before may read yet, whatever the last one has said";
  beat("ingress.a.0");
  EXPECT_THAT(word_.still_reading(), ElementsAre("ingress.b.0"));
  beat("ingress.b.0");
  EXPECT_THAT(word_.still_reading(), IsEmpty());
  world_.entry("ingress.b.0").exhausted = 0;
  EXPECT_THAT(word_.still_reading(), ElementsAre("ingress.b.0")) << "it has something in hand";
}

TEST_F(DrainWordTest, WaitsForRecoveryOfOneThatDied) {
  beat("ingress.a.0");
  auto& state = world_.entry("ingress.b.0").state;
  const auto is = [](ActorState what) { return static_cast<std::uint32_t>(what); };
  for (const ActorState what : {ActorState::kFenced, ActorState::kReclaiming}) {
    state = is(what);
    EXPECT_THAT(word_.still_reading(), ElementsAre("ingress.b.0"));
  }
  state = is(ActorState::kVacant);
  EXPECT_THAT(word_.still_reading(), IsEmpty()) << "the next life finds the word";
}

}  // namespace
}  // namespace millrace
